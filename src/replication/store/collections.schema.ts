import { Schema, mongo, type Model, type Connection } from 'mongoose';
import type {
  FilterVersion,
  PartialIdentity,
  KnownChannel,
  LogPlace,
  Identity,
  StoredHead,
  Mark,
  StoredMoment,
  WatchState,
  WATCHER,
  StoredIdentity,
} from '../protocol/index.js';
import { type Kind, type KindDocument, KINDS } from '../../kinds/index.js';
import type { Tenant } from '../../record/index.js';

/** Documents of any form, since other versions and other programs also write them. */
const stored = (collection: string) => ({ collection, strict: false, versionKey: false }) as const;

export const FILTER_VERSIONS = 'tidemark.filterversions';
export const FILTER_VERSION_MODEL = 'FilterVersion';

const filterVersionSchema = new Schema<FilterVersion>({}, { ...stored(FILTER_VERSIONS), minimize: false })
  .index({ organizationid: 1, appid: 1, kind: 1, name: 1 }, { unique: true })
  // Every scrape counts these entries. The index covers that query, because an entry may hold two filters of 64 KiB.
  .index(
    { pending: 1, pendingSince: 1, 'stamping.failures': 1 },
    { partialFilterExpression: { pending: true } },
  );

/** For partial indexes: documents without such texts are no kinds, so they need not be unique. */
const isText = (field: string) => ({ [field]: { $type: 'string' } });

const kindSchema = new Schema<KindDocument>({}, stored(KINDS))
  .index({ name: 1 }, { unique: true, partialFilterExpression: isText('name') })
  .index({ collection: 1 }, { unique: true, partialFilterExpression: isText('collection') });

export const HASH_KEYS = 'tidemark.hashkeys';
export const HASH_KEY_MODEL = 'HashKey';

/** The key of an application's hashes (contract §7). */
export interface HashKey extends Tenant {
  key: mongo.Binary;
}

const hashKeySchema = new Schema<HashKey>({}, stored(HASH_KEYS)).index(
  { organizationid: 1, appid: 1 },
  { unique: true },
);

/** A document of `tidemark.horizons`: the greatest stamp of a hard delete that was removed, or is about to be. */
export interface StoredHorizon {
  _id: Tenant & { kind: Kind };
  lastupdated: Date;
}

export const HORIZONS = 'tidemark.horizons';
export const HORIZON_MODEL = 'Horizon';

const horizonSchema = new Schema<StoredHorizon>({ _id: Object }, stored(HORIZONS));

/**
 * A record without a ledger entry. Either its organization, application or `id` is not a string; or its `id` is a number,
 * and another record is known under the text of that number. The latter is a rival, whose identity is complete.
 */
export interface IncompleteIdentity extends PartialIdentity {
  _id: IncompleteKey;
}

/**
 * A record, and the application in which part of it is known; `null` if unknown. One application must not overwrite or
 * delete the knowledge of another. A key without these fields was written by an earlier version.
 */
export interface IncompleteKey {
  kind: Kind;
  owner: mongo.ObjectId;
  organizationid?: string | null;
  appid?: string | null;
}

export const INCOMPLETE_IDENTITIES = 'tidemark.incompleteidentities';
export const INCOMPLETE_IDENTITY_MODEL = 'IncompleteIdentity';

const incompleteIdentitySchema = new Schema<IncompleteIdentity>(
  { _id: Object },
  stored(INCOMPLETE_IDENTITIES),
)
  .index(
    { '_id.kind': 1, organizationid: 1, appid: 1, id: 1, '_id.owner': 1 },
    { partialFilterExpression: { isNumber: true } },
  )
  .index({ '_id.kind': 1, '_id.owner': 1 });

const CHANNELS = 'tidemark.channels';
export const CHANNEL_MODEL = 'KnownChannel';

const channelSchema = new Schema<KnownChannel>({}, stored(CHANNELS)).index(
  { organizationid: 1, appid: 1, channel: 1 },
  { unique: true },
);

/**
 * The one document for each application, kind and `id` ever seen (design §3): alive with its owner, or the tombstone that
 * the hard-delete feed shows. Retention removes old tombstones, and duplicates are settled before the unique index is made; nothing else removes
 * entries.
 */
export interface LedgerEntry extends Identity {
  _id: mongo.ObjectId;
  alive: boolean;
  /** `_id` of the record that lives under this identity; dead entries have none. */
  owner?: mongo.ObjectId;
  /** The `id` of that record is stored as a number; absent if it is a text. */
  isNumber?: true;
  /**
   * The last record with a numeric `id` that owned the entry. It may still claim the `id`. Removed when the entry is
   * revived for a record with a numeric `id`.
   */
  number?: mongo.ObjectId;
  /**
   * The record was found by a read. Its events up to `learned` may not have been processed yet. Absent once they have been.
   */
  isLooked?: true;
  /** The stamp of the tombstone; absent if alive. */
  lastupdated?: Date;
  /** The place in the log at which this was learned. Older knowledge never overwrites newer. */
  learned: LogPlace;
}

export const LEDGER = 'tidemark.ledger';
export const LEDGER_MODEL = 'LedgerEntry';

/**
 * The unique index of entries by their identity. Queries by identity hint it, because MongoDB could choose an index of
 * tombstones, and an application may have millions of tombstones.
 */
export const ENTRIES_BY_IDENTITY = { organizationid: 1, appid: 1, kind: 1, id: 1 } as const;

/** The index of living entries by the records that own them. */
export const ENTRIES_BY_OWNER = { kind: 1, owner: 1, _id: 1 } as const;

/** The index of hard deletes by their stamps. */
export const TOMBSTONES_BY_STAMP = { organizationid: 1, appid: 1, kind: 1, lastupdated: 1, _id: 1 } as const;

const ofTombstones = { partialFilterExpression: { alive: false } };

const ledgerSchema = new Schema<LedgerEntry>({}, { ...stored(LEDGER), statics: { settleDuplicates } })
  .index(ENTRIES_BY_IDENTITY, { unique: true })
  .index(ENTRIES_BY_OWNER, { partialFilterExpression: { alive: true } })
  .index({ kind: 1, isNumber: 1 }, { partialFilterExpression: { isNumber: true } })
  .index({ organizationid: 1, appid: 1, kind: 1, _id: 1 }, ofTombstones)
  .index(TOMBSTONES_BY_STAMP, ofTombstones);

/**
 * Removes duplicates and keeps the latest knowledge. After a drop of the collection, entries may have been written
 * before the unique index was rebuilt.
 */
async function settleDuplicates(this: Model<LedgerEntry>): Promise<boolean> {
  const groups = this.collection.aggregate<{ entries: mongo.ObjectId[] }>(
    [
      { $sort: { learned: -1 } },
      {
        $group: {
          _id: { organizationid: '$organizationid', appid: '$appid', kind: '$kind', id: '$id' },
          entries: { $push: '$_id' },
        },
      },
      { $match: { 'entries.1': { $exists: true } } },
    ],
    { allowDiskUse: true },
  );
  for await (const { entries } of groups)
    await this.collection.deleteMany({ _id: { $in: entries.slice(1) } });
  return true;
}

export const HEADS = 'tidemark.heads';
export const HEAD_MODEL = 'Head';

const headSchema = new Schema<StoredHead>({ _id: Object }, stored(HEADS));

export const MARKS = 'tidemark.marks';
export const MARK_MODEL = 'Mark';

const markSchema = new Schema<Mark>({ _id: Object }, stored(MARKS));

/** Twice the default time for which a server retains snapshots (seconds). */
const KEPT_SECONDS = 600;

export const MOMENTS = 'tidemark.moments';
export const MOMENT_MODEL = 'Moment';

const momentSchema = new Schema<StoredMoment>({}, stored(MOMENTS))
  .index({ organizationid: 1, appid: 1, kind: 1, fence: 1, at: 1 }, { unique: true })
  .index({ passed: 1 }, { expireAfterSeconds: KEPT_SECONDS });

export const LEASES = 'tidemark.leases';
export const WATCH_STATE_MODEL = 'WatchState';

const watchStateSchema = new Schema<WatchState>({ _id: String }, stored(LEASES));

/** The second copy of the storage format: one document, like that of the lease. */
export const STORAGE_FORMAT = 'tidemark.storageformat';

/** Counts by word. A word without a count is absent. */
export type CountsByWord = Partial<Record<string, number>>;

/**
 * The one document of `tidemark.watchtotals`: totals over all leaders since the beginning. If a leader is killed, its counts
 * since the last renewal are lost.
 */
export interface WatchTotals {
  _id: typeof WATCHER;
  /** Re-stamped records and tombstones, by reason. */
  restamps?: CountsByWord;
  /** Hard deletes written into the ledger. */
  tombstones?: number;
  /** Passes begun, by reason. */
  passes?: CountsByWord;
  /** Repairs in records of other programs, by what was repaired. */
  repaired?: CountsByWord;
  /** Records that can never be delivered, by kind, as last counted by a leader. */
  ignored?: CountsByWord;
}

export const WATCH_TOTALS = 'tidemark.watchtotals';

/** The subject of a quarantine entry: a record, a hard delete by its ledger entry, or the services. */
export type Concern = ConcernedRecord | ConcernedTombstone | { what: 'services' };

export interface ConcernedRecord {
  what: 'record';
  kind: Kind;
  owner: mongo.ObjectId;
}

export interface ConcernedTombstone {
  what: 'tombstone';
  owner: mongo.ObjectId;
}

/** The fields of a record's identity as of a place in the log. */
export type LastKnown = StoredIdentity & { learned: LogPlace };

/** A quarantine entry: something that could not be processed or written. It is retried until that succeeds. */
export interface SetAside {
  _id: Concern;
  /**
   * Distinguishes the entry from a later one for the same subject, made after this one was settled. Absent in entries of an
   * earlier version.
   */
  entry?: mongo.ObjectId;
  /** The most recent failure. */
  reason: string;
  since: Date;
  /** The number of its events that were set aside. While there are any, the ledger may not know the identity. */
  events: number;
  /** The number of the service's own writes to it that were refused. Absent in entries of an earlier version. */
  refusals?: number;
  /** The number of failed retries. */
  tries: number;
  /** When it is retried. */
  due: Date;
  /** The identity of a record, complete or not, after the last of its events that was set aside. */
  known?: LastKnown;
  /**
   * The identities that a record had after its events that were set aside, at most the last 100. Consumers may have
   * seen them although the ledger does not contain them.
   */
  identities?: Identity[];
  /** A lower bound for its next stamp: consumers know a hard delete of that time. */
  above?: Date;
}

export const QUARANTINE = 'tidemark.quarantine';
export const QUARANTINE_MODEL = 'SetAside';

const quarantineSchema = new Schema<SetAside>({ _id: Object }, stored(QUARANTINE)).index({ due: 1 });

/** The approximate number of quarantine entries. */
export function countSetAside(connection: Connection): Promise<number> {
  return connection.collection(QUARANTINE).estimatedDocumentCount();
}

/** The models of this folder. */
export const storeModels = [
  { name: 'Kind', schema: kindSchema },
  { name: FILTER_VERSION_MODEL, schema: filterVersionSchema },
  { name: HASH_KEY_MODEL, schema: hashKeySchema },
  { name: LEDGER_MODEL, schema: ledgerSchema },
  { name: CHANNEL_MODEL, schema: channelSchema },
  { name: INCOMPLETE_IDENTITY_MODEL, schema: incompleteIdentitySchema },
  { name: HORIZON_MODEL, schema: horizonSchema },
  { name: MARK_MODEL, schema: markSchema },
  { name: HEAD_MODEL, schema: headSchema },
  { name: MOMENT_MODEL, schema: momentSchema },
  { name: WATCH_STATE_MODEL, schema: watchStateSchema },
  { name: QUARANTINE_MODEL, schema: quarantineSchema },
];
