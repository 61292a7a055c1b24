import type { mongo } from 'mongoose';
import { filterFault, isEnabled, isServiceName, type StoredService } from '../application/plain.js';
import { literal } from '../common/index.js';
import { alongIndexIfAny } from '../database/plain.js';
import {
  BY_RECORD_ID,
  READ_FOR_JSON,
  COLLECTION_OF,
  HIDDEN_FIELDS,
  idTextAt,
  type Kind,
  ofTenant,
  type Tenant,
  withIds,
} from '../record/index.js';
import { LEDGER, type LedgerEntry } from '../replication/ledger/plain.js';
import { extendedJson } from './extended-json.js';
import { AT_ONCE, type FilterTurn } from './filter-trial.js';
import { listServices } from './listed-services.js';

const MATCH_MS = 2000;
/** Limit for all services together; results that are not known by then are omitted. */
const MATCHES_MS = 6000;
const SIDE_BY_SIDE = 5;
const HIDDEN = Object.fromEntries(HIDDEN_FIELDS.map((field) => [field, 0] as const));

/** Whether a service shows a record in `updates` now, or else in `softdeletes`; undefined if its filter cannot be run. */
export interface ServiceMatch {
  name: string;
  matches: boolean | undefined;
}

/** The current state of an `id`. */
export interface Standing extends Tenant {
  kind: Kind;
  id: string;
  /**
   * `alive`: in the feeds. `gone`: in `harddeletes`. `not yet known`: stored, and the watcher has not come to it or leaves
   * it out. `unknown`: there is nothing, and there never was, or its hard delete is kept no longer.
   */
  state: 'alive' | 'gone' | 'not yet known' | 'unknown';
  /** The stamp of the record, or of its hard delete; windows that contain it deliver that. */
  lastupdated: Date | null;
  /** `_id` of the record that the ledger knows as its owner. */
  owner: string | null;
}

/** What is known under an `id`. */
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
    record: record && extendedJson(record),
    services: record === null ? [] : await matches(db, of, record['_id'], turn),
  };
}

/** What is stored under an `id`: its ledger entry, and the record without hidden fields. */
export interface FoundUnder {
  entry: LedgerEntry | null;
  record: mongo.Document | null;
}

/** Looks up what is stored under an `id`. */
export async function foundUnder(
  db: mongo.Db,
  { kind, ...tenant }: Tenant & { kind: Kind },
  id: string,
): Promise<FoundUnder> {
  const entry = await db.collection<LedgerEntry>(LEDGER).findOne({ ...tenant, kind, id: { $eq: id } });
  return { entry, record: await storedRecord(db.collection(COLLECTION_OF[kind]), { tenant, id, entry }) };
}

/** The state of an `id`, from what was found under it. */
export function standingOf(
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

/** The record with this text as its `id`, else the one that is delivered under it since its `id` is a number. */
async function storedRecord(
  records: mongo.Collection,
  { tenant, id, entry }: { tenant: Tenant; id: string; entry: LedgerEntry | null },
): Promise<mongo.Document | null> {
  const options = { projection: HIDDEN, ...READ_FOR_JSON };
  const found = await alongIndexIfAny(records, BY_RECORD_ID, (along) =>
    records.findOne(withIds(tenant, [id]), { ...options, ...along }),
  );
  if (found !== null || entry?.isNumber !== true || entry.owner === undefined) return found;
  const isSame = { $expr: { $eq: [idTextAt('$id'), literal(id)] } };
  return records.findOne(
    { ...ofTenant(tenant), _id: entry.owner, ...isSame },
    { ...options, hint: { _id: 1 } },
  );
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
  const records = db.collection(COLLECTION_OF[kind]);
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
