import type { mongo } from 'mongoose';
import { type Identity, identityKey } from '../ledger/index.js';
import { type Tenure, tenureKey } from './audit-digest.js';

const MOST_NAMED = 20;

export const LEDGER_FAULTS = ['unknown record', 'living entry without record'] as const;
export type LedgerFaultKind = (typeof LEDGER_FAULTS)[number];

/** Something that the ledger has wrong. */
export interface LedgerFault extends Tenure {
  what: LedgerFaultKind;
}

/** What one of the lists has under an owner and the other has not: each identity once, with its record if there is one. */
export function differing(records: Tenure[], entries: Tenure[]): Tenure[] {
  const [inRecords, inEntries] = [records, entries].map((list) => new Set(list.map(tenureKey)));
  const only = [
    ...records.filter((one) => !inEntries!.has(tenureKey(one))),
    ...entries.filter((one) => !inRecords!.has(tenureKey(one))),
  ];
  const suspects = new Map<string, Tenure>();
  for (const one of only) {
    const key = identityKey(one.identity);
    if (!suspects.has(key)) suspects.set(key, one);
  }
  return [...suspects.values()];
}

/**
 * What is wrong with an identity, by who owns it in the collection and in the living part of the ledger. An entry of
 * another owner than the record's is no dead one: the identity lives.
 */
export function faultOf(
  identity: Identity,
  owner: mongo.ObjectId | undefined,
  known: mongo.ObjectId | undefined,
): LedgerFault | undefined {
  if (owner === undefined) return known && { what: 'living entry without record', identity, owner: known };
  return known?.equals(owner) === true ? undefined : { what: 'unknown record', identity, owner };
}

/** Those of the later look that the earlier one has shown just so. */
export function lasting(earlier: LedgerFault[], later: LedgerFault[]): LedgerFault[] {
  const before = new Set(earlier.map(faultKey));
  return later.filter((fault) => before.has(faultKey(fault)));
}

/** For the log. */
export function faultsSentence(faults: LedgerFault[]): string {
  const named = faults.slice(0, MOST_NAMED).map(nameOf).join('; ');
  const rest = faults.length - MOST_NAMED;
  return `The ledger was wrong in these places, which are put right now: ${named}${rest > 0 ? `; and ${rest} more` : ''}`;
}

function nameOf({ what, owner, identity: { kind, organizationid, appid, id } }: LedgerFault): string {
  return `${what}: ${kind} ${JSON.stringify(id)} of ${organizationid}/${appid}, _id ${owner.toHexString()}`;
}

function faultKey(fault: LedgerFault): string {
  return `${fault.what} ${tenureKey(fault)}`;
}
