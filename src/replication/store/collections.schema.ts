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
import type { Kind, Tenant } from '../../record/index.js';

/** Documents of any form: other versions and other programs write them too. */
const stored = (collection: string) => ({ collection, strict: false, versionKey: false }) as const;

export const FILTER_VERSIONS = 'tidemark.filterversions';
export const FILTER_VERSION_MODEL = 'FilterVersion';

const filterVersionSchema = new Schema<FilterVersion>({}, { ...stored(FILTER_VERSIONS), minimize: false })
  .index({ organizationid: 1, appid: 1, kind: 1, name: 1 }, { unique: true })
  // Every scrape counts these entries, and the index alone answers it: an entry may hold two filters of 64 KB.
  .index(
    { pending: 1, pendingSince: 1, 'stamping.failures': 1 },
    { partialFilterExpression: { pending: true } },
  );

/** A document of `tidemark.horizons`: the greatest stamp of a hard delete that is gone, or about to go. */
export interface StoredHorizon {
  _id: Tenant & { kind: Kind };
  lastupdated: Date;
}

export const HORIZONS = 'tidemark.horizons';
export const HORIZON_MODEL = 'Horizon';

const horizonSchema = new Schema<StoredHorizon>({ _id: Object }, stored(HORIZONS));

/**
 * A record that has no ledger entry, since its organization, application or `id` is not a string; or since its `id` is a number
 * and another record is known under the text of it: a rival, whose identity is whole.
 */
export interface IncompleteIdentity extends PartialIdentity {
  _id: IncompleteKey;
}

/**
 * A record and the application in which something of it is known, `null` where that is unknown: what is known in one application
 * is not for another one to overwrite or to forget. Without them it was written by an earlier version.
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
 * The one document for each application, kind and `id` ever seen (design §3): alive with its owner,
 * or the tombstone that the hard-delete feed shows. Only expiry removes any, and only old tombstones.
 */
export interface LedgerEntry extends Identity {
  _id: mongo.ObjectId;
  alive: boolean;
  /** `_id` of the record that lives under this identity; dead entries have none. */
  owner?: mongo.ObjectId;
  /** The `id` of that record is stored as a number; absent where it is a text. */
  isNumber?: true;
  /** The record with a number that ended here last, if none lives here since. It may claim the `id` still. */
  number?: mongo.ObjectId;
  /** A look has found that record there: where it was at `learned` events are still to tell. Absent where these have. */
  isLooked?: true;
  /** When it died; living entries have none. */
  lastupdated?: Date;
  /** Where in the log this was learned. Older knowledge never overwrites newer. */
  learned: LogPlace;
}

export const LEDGER = 'tidemark.ledger';
export const LEDGER_MODEL = 'LedgerEntry';

const ofTombstones = { partialFilterExpression: { alive: false } };

const ledgerSchema = new Schema<LedgerEntry>({}, { ...stored(LEDGER), statics: { settleDuplicates } })
  .index({ organizationid: 1, appid: 1, kind: 1, id: 1 }, { unique: true })
  .index({ kind: 1, owner: 1, _id: 1 }, { partialFilterExpression: { alive: true } })
  .index({ kind: 1, isNumber: 1 }, { partialFilterExpression: { isNumber: true } })
  .index({ organizationid: 1, appid: 1, kind: 1, _id: 1 }, ofTombstones)
  .index({ organizationid: 1, appid: 1, kind: 1, lastupdated: 1, _id: 1 }, ofTombstones);

/** After a drop entries may have been written before the unique index stood again: the latest knowledge counts. */
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

/** Twice as long as a server keeps snapshots unless told otherwise (seconds). */
const KEPT_SECONDS = 600;

export const MOMENTS = 'tidemark.moments';
export const MOMENT_MODEL = 'Moment';

const momentSchema = new Schema<StoredMoment>({}, stored(MOMENTS))
  .index({ organizationid: 1, appid: 1, kind: 1, fence: 1, at: 1 }, { unique: true })
  .index({ passed: 1 }, { expireAfterSeconds: KEPT_SECONDS });

export const LEASES = 'tidemark.leases';
export const WATCH_STATE_MODEL = 'WatchState';

const watchStateSchema = new Schema<WatchState>({ _id: String }, stored(LEASES));

/** Numbers by the word that tells them apart; a word without a number is none. */
export type CountsByWord = Partial<Record<string, number>>;

/**
 * The one document of `tidemark.watchtotals`: what all leaders did since the beginning, whichever instance it was. A leader that
 * is killed takes with it what it did since its last renewal.
 */
export interface WatchTotals {
  _id: typeof WATCHER;
  /** Records and tombstones stamped anew, by reason. */
  restamps?: CountsByWord;
  /** Hard deletes written into the ledger. */
  tombstones?: number;
  /** Passes begun, by reason. */
  passes?: CountsByWord;
  /** What was repaired in records of other programs, by what. */
  repaired?: CountsByWord;
  /** Records that can never be delivered, by kind, as the last leader knew them. */
  ignored?: CountsByWord;
}

export const WATCH_TOTALS = 'tidemark.watchtotals';

/** What something that was set aside is about: a record, a hard delete by its ledger entry, or the services. */
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

/** Something that could not be worked through, or written. What it is about is looked after until that succeeds. */
export interface SetAside {
  _id: Concern;
  /** Tells it from one that is made anew after it was settled. Absent in an entry of an earlier version. */
  entry?: mongo.ObjectId;
  /** What went wrong, the last time. */
  reason: string;
  since: Date;
  /** How many of its events were set aside. The ledger may not know what it is while there is any. */
  events: number;
  /** How many of the service's own writes into it were refused. Absent in an entry of an earlier version. */
  refusals?: number;
  /** How often it was looked after in vain. */
  tries: number;
  /** When it is looked after again. */
  due: Date;
  /** What a record was after the last of its events that was set aside, whole or not. */
  known?: LastKnown;
  /** What a record was meanwhile, so that consumers may have it although the ledger does not; the last 100. */
  identities?: Identity[];
  /** The stamp that it gets has to lie above it: consumers know a hard delete of that time. */
  above?: Date;
}

export const QUARANTINE = 'tidemark.quarantine';
export const QUARANTINE_MODEL = 'SetAside';

const quarantineSchema = new Schema<SetAside>({ _id: Object }, stored(QUARANTINE)).index({ due: 1 });

/** About how many records and hard deletes there are that were set aside. */
export function countSetAside(connection: Connection): Promise<number> {
  return connection.collection(QUARANTINE).estimatedDocumentCount();
}

/** The models of the room. */
export const storeModels = [
  { name: FILTER_VERSION_MODEL, schema: filterVersionSchema },
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
