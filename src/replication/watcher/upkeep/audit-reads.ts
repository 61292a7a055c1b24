import { createHash } from 'node:crypto';
import { mongo, type Connection } from 'mongoose';
import { Injectable } from '@nestjs/common';
import { InjectConnection } from '@nestjs/mongoose';
import { type Identity, identityKey, identitiesByTenant, identityOf } from '../../protocol/index.js';
import { earlier } from '../../../platform/common/index.js';
import { alongIndex, readAsOf, type SnapshotOptions } from '../../../platform/database/index.js';
import { recordCollections, type Kind } from '../../../kinds/index.js';
import { recordsIn, FIRST_ID, IDENTITY_TEXTS } from '../../../record/index.js';
import {
  ENTRIES_BY_OWNER,
  LEDGER,
  type LedgerEntry,
  recordsUnder,
  type Now,
  WorkedThrough,
} from '../../store/index.js';

/** The owner of an identity, according to the collection or the ledger. */
export interface Tenure {
  owner: mongo.ObjectId;
  identity: Identity;
  /** The `id` of the record is stored as a number. */
  isNumber?: true;
}

/**
 * A digest of a list that does not depend on its order. Different lists have equal digests with a probability of 1 in 2^64.
 */
interface Digest {
  count: number;
  sum: bigint;
}

export function digestOf(tenures: Tenure[]): Digest {
  const sum = tenures.reduce((total, tenure) => total + hashOf(tenure), 0n);
  return { count: tenures.length, sum: BigInt.asUintN(64, sum) };
}

export function isSameDigest(one: Digest, other: Digest): boolean {
  return one.count === other.count && one.sum === other.sum;
}

/** A unique key for maps. */
function tenureKey({ owner, identity }: Tenure): string {
  return `${owner.toHexString()} ${identityKey(identity)}`;
}

function hashOf(tenure: Tenure): bigint {
  return createHash('sha256').update(tenureKey(tenure)).digest().readBigUInt64LE();
}

const MOST_NAMED = 20;
/** Lets operators and tests tell the reads of the audit from other commands. */
const COMMENT = 'tidemark audit';

export const LEDGER_FAULTS = ['unknown record', 'living entry without record'] as const;
export type LedgerFaultKind = (typeof LEDGER_FAULTS)[number];

/** A fault of the ledger. */
export interface LedgerFault extends Tenure {
  what: LedgerFaultKind;
}

/** Owners that only one of the lists contains: each identity once, with its record if there is one. */
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
 * The fault of an identity, from its owner in the collection and its owner in the living part of the ledger. If the two have
 * different owners, the fault is an unknown record, because the identity lives.
 */
export function faultOf(
  identity: Identity,
  owner: mongo.ObjectId | undefined,
  known: mongo.ObjectId | undefined,
): LedgerFault | undefined {
  if (owner === undefined) return known && { what: 'living entry without record', identity, owner: known };
  return known?.equals(owner) === true ? undefined : { what: 'unknown record', identity, owner };
}

/** The faults that both reads have shown identically. */
export function lasting(earlier: LedgerFault[], later: LedgerFault[]): LedgerFault[] {
  const before = new Set(earlier.map(faultKey));
  return later.filter((fault) => before.has(faultKey(fault)));
}

/** The faults as a log message. */
export function faultsSentence(faults: LedgerFault[]): string {
  const named = faults.slice(0, MOST_NAMED).map(faultInWords).join('; ');
  const rest = faults.length - MOST_NAMED;
  return `The audit found errors in the ledger, which it now corrects: ${named}${rest > 0 ? `; and ${rest} more` : ''}`;
}

function faultInWords({ what, owner, identity: { kind, organizationid, appid, id } }: LedgerFault): string {
  return `${what}: ${kind} ${JSON.stringify(id)} of ${organizationid}/${appid}, _id ${owner.toHexString()}`;
}

/** A unique key for maps. */
export function faultKey(fault: LedgerFault): string {
  return `${fault.what} ${tenureKey(fault)}`;
}

/** The result of a read as of one moment. */
export interface Seen<T> extends Now {
  value: T;
  /** Duration of the read (milliseconds). */
  took: number;
}

/** The same range of the collection and of the living part of the ledger. */
export interface Slice {
  records: Tenure[];
  entries: Tenure[];
  /** Where it ends; undefined if neither side has anything after it. */
  end: mongo.ObjectId | undefined;
}

type Owners = Map<string, mongo.ObjectId>;

/** Reads collection and ledger side by side. */
@Injectable()
export class AuditReads {
  constructor(
    @InjectConnection() private readonly connection: Connection,
    private readonly workedThrough: WorkedThrough,
  ) {}

  /** Reads at most `size` records, and as many entries, after a given record or from the first one on. */
  slice(kind: Kind, behind: mongo.ObjectId | null, size: number): Promise<Seen<Slice>> {
    const later = behind === null ? { $gte: FIRST_ID } : { $gt: behind };
    return this.asOfNow(async (snapshot) => {
      const records = await this.records(kind)
        .find({ _id: later }, { ...snapshot, projection: IDENTITY_TEXTS, sort: { _id: 1 }, limit: size })
        .toArray();
      const entries = await alongIndex(this.entries, ENTRIES_BY_OWNER, (hint) =>
        this.entries
          .find(
            { kind, alive: true, owner: later },
            { ...snapshot, hint, sort: ENTRIES_BY_OWNER, limit: size },
          )
          .toArray(),
      );
      const end = earlier(fullTo(records, '_id', size), fullTo(entries, 'owner', size));
      const isWithin = ({ owner }: Tenure) => end === undefined || owner.toHexString() <= end.toHexString();
      return {
        records: records.flatMap((record) => tenureOf(kind, record)).filter(isWithin),
        entries: entries.map(({ owner, ...identity }) => ({ owner: owner!, identity })).filter(isWithin),
        end,
      };
    });
  }

  /** The faults of these identities, independently of where their records and entries are. */
  faults(kind: Kind, suspects: Tenure[]): Promise<Seen<LedgerFault[]>> {
    const identities = suspects.map(({ identity }) => identity);
    return this.asOfNow(async (snapshot) => {
      const standing = await this.standing(kind, identities, snapshot);
      const living = await this.living(kind, identities, snapshot);
      const numbers = await this.numbers(kind, numberedAmong(suspects, standing, living), snapshot);
      return identities.flatMap((identity) => {
        const key = identityKey(identity);
        const fault = faultOf(identity, standing.get(key) ?? numbers.get(key), living.get(key));
        return fault === undefined ? [] : [numbers.has(key) ? { ...fault, isNumber: true as const } : fault];
      });
    });
  }

  /** Approximate number of slices of a given size. */
  async expected(size: number): Promise<number> {
    const counts = await Promise.all(
      recordCollections().map((name) =>
        this.connection.collection(name).estimatedDocumentCount({ comment: COMMENT }),
      ),
    );
    return counts.reduce((slices, count) => slices + Math.floor(count / size) + 1, 0);
  }

  private async standing(kind: Kind, identities: Identity[], snapshot: SnapshotOptions): Promise<Owners> {
    const owners: Owners = new Map();
    for (const some of identitiesByTenant(identities)) {
      const options = { ...snapshot, projection: IDENTITY_TEXTS };
      const found = await recordsUnder(this.records(kind), some, options);
      for (const { owner, identity } of found.flatMap((record) => tenureOf(kind, record)))
        owners.set(identityKey(identity), owner);
    }
    return owners;
  }

  /** The candidates whose record still has the numeric `id`. No index contains numeric ids, so each record is read. */
  private async numbers(kind: Kind, candidates: Tenure[], snapshot: SnapshotOptions): Promise<Owners> {
    if (candidates.length === 0) return new Map();
    const query = { _id: { $in: candidates.map(({ owner }) => owner) } };
    const found = await this.records(kind)
      .find(query, { ...snapshot, projection: IDENTITY_TEXTS })
      .toArray();
    const present = new Set(found.flatMap((record) => tenureOf(kind, record)).map(tenureKey));
    return new Map(
      candidates
        .filter((one) => present.has(tenureKey(one)))
        .map(({ identity, owner }) => [identityKey(identity), owner]),
    );
  }

  private async living(kind: Kind, identities: Identity[], snapshot: SnapshotOptions): Promise<Owners> {
    const owners: Owners = new Map();
    for (const { organizationid, appid, ids } of identitiesByTenant(identities)) {
      const query = { organizationid, appid, kind, id: { $in: ids }, alive: true };
      for (const { owner, ...identity } of await this.entries.find(query, { ...snapshot }).toArray())
        owners.set(identityKey(identity), owner!);
    }
    return owners;
  }

  private async asOfNow<T>(read: (snapshot: SnapshotOptions) => Promise<T>): Promise<Seen<T>> {
    const now = await this.workedThrough.now();
    const began = performance.now();
    const value = await readAsOf(this.connection.getClient(), now.at, (snapshot) =>
      read({ ...snapshot, comment: COMMENT }),
    );
    return { ...now, value, took: performance.now() - began };
  }

  private records(kind: Kind): mongo.Collection {
    return recordsIn(this.connection, kind);
  }

  private get entries(): mongo.Collection<LedgerEntry> {
    return this.connection.collection<LedgerEntry>(LEDGER);
  }
}

function tenureOf(kind: Kind, record: mongo.Document): Tenure[] {
  const identity = identityOf(kind, record['_id'], record);
  if (identity === undefined) return [];
  return [
    {
      owner: record['_id'] as mongo.ObjectId,
      identity,
      ...(record['isNumber'] === true && { isNumber: true }),
    },
  ];
}

/**
 * The records that may own an identity as a number: the owner that the ledger knows, otherwise the record in the collection.
 * Any other record is a rival, which is not a fault.
 */
function numberedAmong(suspects: Tenure[], standing: Owners, living: Owners): Tenure[] {
  return suspects.flatMap(({ identity, owner, isNumber }) => {
    const key = identityKey(identity);
    if (standing.has(key)) return [];
    const known = living.get(key) ?? (isNumber && owner);
    return known ? [{ identity, owner: known }] : [];
  });
}

/** The key up to which a truncated list is complete; undefined if it was not truncated. */
function fullTo(list: mongo.Document[], field: string, size: number): mongo.ObjectId | undefined {
  return list.length < size ? undefined : (list.at(-1)?.[field] as mongo.ObjectId);
}
