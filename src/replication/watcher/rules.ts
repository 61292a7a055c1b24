import { mongo } from 'mongoose';
import type { Kind } from '../../record/index.js';
import { type Identity, identityKey, type LedgerChange } from '../ledger/index.js';
import type { StoredIdentity, WatchedEvent } from './events.js';

/** Which living identities each record owns, by the hex of its `_id`: the ledger as far as a batch concerns it. */
export type Owned = Map<string, Identity[]>;

/** What an identity is once all three fields are texts and the record can be delivered; nothing otherwise. */
export function identityOf(kind: Kind, owner: unknown, stored: StoredIdentity): Identity | undefined {
  const { organizationid, appid, id } = stored;
  const texts = typeof organizationid === 'string' && typeof appid === 'string' && typeof id === 'string';
  return texts && owner instanceof mongo.ObjectId ? { kind, organizationid, appid, id } : undefined;
}

/** A record that was in no ledger, of whose identity the event tells only a part. */
export interface Newcomer {
  kind: Kind;
  owner: mongo.ObjectId;
  at: mongo.Timestamp;
  changed: StoredIdentity;
}

/**
 * What the events of a batch, in commit order, teach the ledger (design §3, rule 3): a record that is deleted or moved
 * leaves a tombstone for what it was, a record written lives under what it is. What it was comes from the ledger,
 * what it is from the event. Only the last change of an identity counts.
 */
export function ledgerChanges(
  events: WatchedEvent[],
  owned: Owned,
): { changes: LedgerChange[]; newcomers: Newcomer[] } {
  const changes = new Map<string, LedgerChange>();
  const newcomers: Newcomer[] = [];
  for (const event of events) {
    if (event.type === 'upheaval' || !(event.owner instanceof mongo.ObjectId)) continue;
    if (event.type === 'written' && !touchesIdentity(event)) continue;
    const { kind, owner, at } = event;
    const before = owned.get(owner.toHexString()) ?? [];
    if (event.type === 'written' && !event.whole && before.length === 0) {
      newcomers.push({ kind, owner, at, changed: event.identity });
      continue;
    }
    const now = event.type === 'written' ? identityAfter(event, owner, before[0]) : undefined;
    for (const gone of before.filter((identity) => !isSame(identity, now))) {
      const shortLived = changes.get(identityKey(gone))?.alive === true;
      changes.set(identityKey(gone), { identity: gone, at, alive: false, shortLived });
    }
    if (now !== undefined) changes.set(identityKey(now), { identity: now, at, alive: true, owner });
    owned.set(owner.toHexString(), now === undefined ? [] : [now]);
  }
  return { changes: [...changes.values()], newcomers };
}

type Written = WatchedEvent & { type: 'written' };

function touchesIdentity(event: Written): boolean {
  return event.whole || Object.keys(event.identity).length > 0;
}

function identityAfter(
  event: Written,
  owner: mongo.ObjectId,
  before: Identity | undefined,
): Identity | undefined {
  return identityOf(event.kind, owner, event.whole ? event.identity : { ...before, ...event.identity });
}

function isSame(one: Identity, other: Identity | undefined): boolean {
  return other !== undefined && identityKey(one) === identityKey(other);
}
