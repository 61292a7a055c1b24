import mongoose, { type mongo } from 'mongoose';
import { filterFault, isEnabled, isServiceName, type StoredService } from '../application/plain.js';
import { literal } from '../platform/common/index.js';
import { alongIndexIfAny } from '../platform/database/plain.js';
import {
  recordsIn,
  BY_RECORD_ID,
  HIDDEN_FIELDS,
  idTextAt,
  ofTenant,
  documentForJson,
  type Tenant,
  withIds,
} from '../record/index.js';
import { collectionOf, type Kind } from '../kinds/index.js';
import { LEDGER, type LedgerEntry } from '../replication/store/plain.js';
import {
  type EditedService,
  type RestampGap,
  restampGaps,
  type RestampNote,
  restampsOf,
} from '../replication/watcher/plain.js';
import type { RestampReason } from '../replication/protocol/index.js';
import type { FilterTurn } from './changes.js';
import { filterJson } from './filter-text.js';
import { AT_ONCE } from './filter-trial.js';
import { listServices } from './listed-services.js';

const MATCH_MS = 2000;
/** Time limit for all services together, in ms. The result for a service that was not reached by then is undefined. */
const MATCHES_MS = 6000;
const SIDE_BY_SIDE = 5;
const MOST_RESTAMPS = 100;
const MOST_GAPS = 20;
const HIDDEN = Object.fromEntries(HIDDEN_FIELDS.map((field) => [field, 0] as const));

/**
 * Whether a service's filter matches a record now. Matching records are in `updates`, all others in `softdeletes`.
 * Undefined if the filter is not valid, or if its query failed or did not finish in time.
 */
interface ServiceMatch {
  name: string;
  matches: boolean | undefined;
}

/** The current state of an `id`. */
export interface Standing extends Tenant {
  kind: Kind;
  id: string;
  /**
   * `alive`: in the feeds. `gone`: in `harddeletes`. `not yet known`: stored, but the watcher has not processed it yet or
   * ignores it. `unknown`: not stored, and either it never existed or its hard delete has expired.
   */
  state: 'alive' | 'gone' | 'not yet known' | 'unknown';
  /** The stamp of the record or of its hard delete. Windows that contain the stamp deliver it. */
  lastupdated: Date | null;
  /** `_id` of the record that owns the `id` in the ledger. */
  owner: string | null;
}

/** Everything that is known about an `id`. */
export interface RecordStory extends Standing {
  /** The stored record, as extended JSON. */
  record: unknown;
  services: ServiceMatch[];
}

/** Explains why a consumer has a record or lacks it: its ledger entry, the record, and which services match it now. */
export async function recordStory(
  db: mongo.Db,
  { organizationid, appid, kind }: Tenant & { kind: Kind },
  id: string,
  turn: FilterTurn = AT_ONCE,
): Promise<RecordStory> {
  const of = { organizationid, appid, kind };
  const found = await foundUnder(db, of, id);
  const { record } = found;
  return {
    ...standingOf(of, id, found),
    record: record && filterJson(record),
    services: record === null ? [] : await matches(db, of, record['_id'], turn),
  };
}

/** What is stored under an `id`: its ledger entry, and the record without hidden fields. */
interface FoundUnder {
  entry: LedgerEntry | null;
  record: mongo.Document | null;
}

async function foundUnder(
  db: mongo.Db,
  { kind, ...tenant }: Tenant & { kind: Kind },
  id: string,
): Promise<FoundUnder> {
  const entry = await db.collection<LedgerEntry>(LEDGER).findOne({ ...tenant, kind, id: { $eq: id } });
  return { entry, record: await storedRecord(recordsIn(db, kind), { tenant, id, entry }) };
}

/** The state of an `id`, derived from what is stored under it. */
function standingOf(
  { organizationid, appid, kind }: Tenant & { kind: Kind },
  id: string,
  { entry, record }: FoundUnder,
): Standing {
  const stamp: unknown = record?.['lastupdated'] ?? entry?.lastupdated;
  return {
    ...{ organizationid, appid, kind, id },
    state: stateOf(entry, record !== null),
    lastupdated: stamp instanceof Date ? stamp : null,
    owner: entry?.owner?.toHexString() ?? null,
  };
}

function stateOf(entry: LedgerEntry | null, isStored: boolean): Standing['state'] {
  if (entry?.alive === true) return 'alive';
  if (isStored) return 'not yet known';
  return entry === null ? 'unknown' : 'gone';
}

/** The record with this string as its `id`, otherwise the record with a numeric `id` that is delivered as this string. */
async function storedRecord(
  records: mongo.Collection,
  { tenant, id, entry }: { tenant: Tenant; id: string; entry: LedgerEntry | null },
): Promise<mongo.Document | null> {
  const options = { projection: HIDDEN, raw: true };
  const found = await alongIndexIfAny(records, BY_RECORD_ID, (along) =>
    records.findOne(withIds(tenant, [id]), { ...options, ...along }),
  );
  if (found !== null || entry?.isNumber !== true || entry.owner === undefined) return readRaw(found);
  const isSame = { $expr: { $eq: [idTextAt('$id'), literal(id)] } };
  const which = { ...ofTenant(tenant), _id: entry.owner, ...isSame };
  return readRaw(await records.findOne(which, { ...options, hint: { _id: 1 } }));
}

/** With `raw`, the driver returns bytes. */
function readRaw(found: unknown): mongo.Document | null {
  return found === null ? null : documentForJson(found as Uint8Array);
}

async function matches(
  db: mongo.Db,
  { kind, ...tenant }: Tenant & { kind: Kind },
  _id: unknown,
  turn: FilterTurn,
): Promise<ServiceMatch[]> {
  const listed = await listServices(db, { which: ofTenant(tenant) });
  const services = listed.services.filter(
    (one) => one.kind === kind && isEnabled(one) && isServiceName(one.name),
  );
  const records = recordsIn(db, kind);
  const known = new Map<unknown, boolean>();
  const ask = async ({ name, filter }: StoredService) => {
    if (filterFault(filter) !== undefined) return;
    const query = { $and: [{ ...ofTenant(tenant), _id: _id as mongo.ObjectId }, filter as mongo.Document] };
    const found = await records
      .findOne(query, { projection: { _id: 1 }, hint: { _id: 1 }, maxTimeMS: MATCH_MS })
      .catch(() => undefined);
    if (found !== undefined) known.set(name, found !== null);
  };
  const askAll = async () => {
    const ends = performance.now() + MATCHES_MS;
    for (let first = 0; first < services.length && performance.now() < ends; first += SIDE_BY_SIDE)
      await Promise.all(services.slice(first, first + SIDE_BY_SIDE).map(ask));
    return known;
  };
  if (services.length > 0) await turn(tenant, askAll, MATCHES_MS);
  return services.map(({ name }) => ({ name: String(name), matches: known.get(name) }));
}

/** A re-stamp of a record or of its hard delete. */
interface Restamp {
  at: Date;
  reason: RestampReason;
  what: 'record' | 'hard delete';
  /** A sentence. */
  meaning: string;
}

/** The known re-stamps of the record under an `id`. */
export interface RecordHistory extends Standing {
  /** The newest 100, newest first. */
  restamps: Restamp[];
  /** The newest 20 periods in which records were re-stamped for a reason so often that not every re-stamp was recorded. */
  gaps: Pick<RestampGap, 'from' | 'until' | 'reason'>[];
  /** For how many days the notes of new re-stamps are kept; 0 if none are written. */
  keptDays: number;
}

const MEANINGS: Record<RestampReason, string> = {
  late: 'It was written with a stamp at or below what a consumer may have read already.',
  left: 'Another program changed it without changing its stamp.',
  bad: 'Its stamp was missing, was not a date, or lay in the future.',
  tombstone: 'Its stamp was not valid, or was at or below what a consumer may have read already.',
  resurrection: 'It came back under an id that was deleted.',
  number: 'Its id is a number, and from then on it could be delivered under that id.',
  filter: 'A change to a service affects whether or how it delivers the record.',
  pass: 'A pass repaired a lost history: what cannot be proven unchanged counts as changed.',
  audit: 'The audit corrected it.',
  quarantine: 'It was in quarantine, because a change to it could not be processed or written.',
  resync: 'The command resync or restored stamped it anew.',
};
const UNCERTAIN = ' It was checked together with others, and only some of them still needed a new stamp.';

/**
 * When and why a record and its hard delete were re-stamped, so that consumers received them again. Covers all hard
 * deletes of the `id`, but only the record that has the `id` now, not earlier ones.
 */
export async function recordHistory(
  db: mongo.Db,
  { organizationid, appid, kind }: Tenant & { kind: Kind },
  id: string,
  keptDays: number,
): Promise<RecordHistory> {
  const of = { organizationid, appid, kind };
  const found = await foundUnder(db, of, id);
  const stamped = [
    { collection: collectionOf(kind), ids: recordIds(found) },
    { collection: LEDGER, ids: found.entry === null ? [] : [found.entry._id] },
  ];
  const [notes, gaps] = await Promise.all([
    restampsOf(db, stamped, MOST_RESTAMPS),
    restampGaps(db, MOST_GAPS),
  ]);
  return {
    ...standingOf(of, id, found),
    restamps: notes.map((note) => restampOf(note, of)),
    gaps: gaps.map(({ from, until, reason }) => ({ from, until, reason })),
    keptDays,
  };
}

/**
 * The `_id`s of the owner in the ledger and of the stored record, which can differ until the watcher has processed the
 * record.
 */
function recordIds({ entry, record }: FoundUnder): mongo.ObjectId[] {
  const ids = [entry?.owner, record?.['_id'] as unknown].filter(
    (id) => id instanceof mongoose.mongo.ObjectId,
  );
  return ids.filter((id, place) => ids.findIndex((other) => other.equals(id)) === place);
}

type Noted = Pick<RestampNote, 'at' | 'reason' | 'collection' | 'isCertain' | 'service'>;

function restampOf(
  { at, reason, collection, isCertain, service }: Noted,
  of: Tenant & { kind: Kind },
): Restamp {
  const meaning = service !== undefined && isIts(service, of) ? edited(of.kind, service) : MEANINGS[reason];
  return {
    ...{ at, reason, what: collection === LEDGER ? 'hard delete' : 'record' },
    meaning: isCertain ? meaning : `${meaning}${UNCERTAIN}`,
  };
}

/** A record may have moved here from another application, whose services must not be shown here. */
function isIts(service: EditedService, { organizationid, appid }: Tenant): boolean {
  return service.organizationid === organizationid && service.appid === appid;
}

function edited(kind: Kind, { name }: EditedService): string {
  return `A change to the ${kind} service "${name}" affects whether or how it delivers the record.`;
}
