import type { mongo } from 'mongoose';
import { alongIndex } from '../../../platform/database/plain.js';
import type { ServiceKey } from '../../../application/plain.js';
import { isKind, type Kind } from '../../../kinds/index.js';
import { recordsIn, BY_STAMP, type Tenant } from '../../../record/index.js';
import { lastChanges, schemaName, type ToldChange } from '../../schema/plain.js';
import { HEADS } from '../../store/plain.js';
import type { StoredHead } from '../../protocol/index.js';
import { type StoredConsumer, EVERY_SERVICE, isConsumer } from './gathered.js';
import {
  CONSUMERS,
  behindMs,
  type ConsumerState,
  consumerState,
  type Surroundings,
} from './consumer-state.js';

/** The maximum number of records that are counted. Above this number, the exact lag does not matter. */
const MOST_COUNTED = 10_000;
const COUNT_MS = 2000;
/** The time limit of all counts of a report together, so that the report is complete within the time of a request. */
const COUNTS_MS = 4000;
const MOST_CONSUMERS = 1000;
/** How many reads run concurrently. There is one for each application and kind. */
const AT_ONCE = 20;

/** A consumer as operators see it. */
export interface ConsumerReport extends Tenant {
  username: string;
  kind: Kind;
  service: string;
  state: ConsumerState;
  lastCall: Date;
  /** Bounds of the window that was begun last. `from` is null for a window without a lower bound. */
  from: Date | null;
  to: Date | null;
  /**
   * The lag between the last window that was read to its end and the newest change: in seconds, and in records of the kind.
   */
  behindSeconds: number | null;
  behindRecords: number | null;
  lastEnded: Date | null;
  pages: number;
  items: number;
  errors: number;
  lastError: NonNullable<StoredConsumer['lastError']> | null;
  /** The last change of the schema of the service. */
  schemaChange: ToldChange | null;
}

/** The consumers to report. */
interface Wanted {
  /** Only consumers of these organizations; undefined for all. */
  organizationids?: string[] | undefined;
  /** Selects applications of these organizations. */
  covers: (tenant: Tenant) => boolean;
}

/**
 * The consumers that called last, sorted by lag in descending order; those that have not read any window to its end
 * come first. At most a thousand stored consumers are read, before `covers` selects among them. Documents that are not
 * valid are omitted.
 */
export async function reportConsumers(
  db: mongo.Db,
  wanted: Wanted = { covers: () => true },
  now = new Date(),
): Promise<ConsumerReport[]> {
  const reports: ConsumerReport[] = [];
  const consumers = await consumersAround(db, wanted, now);
  const changes = await lastChanges(
    db,
    consumers.map(([{ _id }]) => schemaOf(_id)),
  );
  const countUntil = performance.now() + COUNTS_MS;
  for (const [consumer, around] of consumers) {
    const schemaChange = changes.get(schemaName(schemaOf(consumer._id))) ?? null;
    reports.push({ ...(await reportOf(db, consumer, around, countUntil)), schemaChange });
  }
  return reports.sort((a, b) => (b.behindSeconds ?? Infinity) - (a.behindSeconds ?? Infinity));
}

/** The state and the lag of a consumer, for the metrics. */
export type ConsumerLag = Pick<
  ConsumerReport,
  'organizationid' | 'appid' | 'username' | 'kind' | 'service' | 'state' | 'behindSeconds'
>;

/**
 * The same consumers as {@link reportConsumers}, not sorted and without counted records. Of the records, it reads one
 * index key for each application and kind.
 */
export async function consumerLags(db: mongo.Db, now = new Date()): Promise<ConsumerLag[]> {
  const found = await consumersAround(db, { covers: () => true }, now);
  return found.map(([consumer, around]) => {
    const behind = behindMs(consumer, around.greatest);
    return {
      ...consumer._id,
      state: consumerState(consumer, around),
      behindSeconds: behind === undefined ? null : behind / 1000,
    };
  });
}

async function consumersAround(
  db: mongo.Db,
  { organizationids, covers }: Wanted,
  now: Date,
): Promise<[StoredConsumer, Surroundings][]> {
  const ofThese = organizationids === undefined ? {} : { '_id.organizationid': { $in: organizationids } };
  const all = await db
    .collection<StoredConsumer>(CONSUMERS)
    .find(ofThese, { sort: { lastCall: -1 }, limit: MOST_CONSUMERS })
    .toArray();
  const wanted = all.filter((one) => isConsumer(one) && isKind(one._id.kind) && covers(one._id));
  const consumers = wanted.filter(({ _id }) => _id.service !== EVERY_SERVICE);
  const greatest = await greatestOf(db, consumers, now);
  const ofKinds = all.length < MOST_CONSUMERS ? wanted : await hardDeletesOf(db, consumers);
  const hardDeletes = new Map(
    ofKinds.filter(({ _id }) => _id.service === EVERY_SERVICE).map((one) => [nameOfReader(one._id), one]),
  );
  return consumers.map((consumer) => {
    const ofKind = hardDeletes.get(nameOfReader(consumer._id));
    return [consumer, { now, greatest: greatest.get(nameOfKind(consumer._id)), ofKind }];
  });
}

/**
 * What the same credentials were answered for `harddeletes`. Beyond the limit, it is read by itself: a consumer that has
 * stopped reading hard deletes is among those that called least lately.
 */
async function hardDeletesOf(db: mongo.Db, consumers: StoredConsumer[]): Promise<StoredConsumer[]> {
  const ids = consumers.map(({ _id }) => ({ ..._id, service: EVERY_SERVICE }));
  const all = await db
    .collection<StoredConsumer>(CONSUMERS)
    .find({ _id: { $in: ids } })
    .toArray();
  return all.filter(isConsumer);
}

async function reportOf(
  db: mongo.Db,
  consumer: StoredConsumer,
  around: Surroundings,
  countUntil: number,
): Promise<Omit<ConsumerReport, 'schemaChange'>> {
  const { _id, lastCall, begun, ended, pages, items, errors, lastError } = consumer;
  const behind = behindMs(consumer, around.greatest);
  return {
    ..._id,
    state: consumerState(consumer, around),
    lastCall,
    from: begun?.from ?? null,
    to: begun?.to ?? null,
    behindSeconds: behind === undefined ? null : behind / 1000,
    behindRecords: behind === 0 ? 0 : await recordsBehind(db, consumer, countUntil),
    lastEnded: ended?.at ?? null,
    ...{ pages, items, errors, lastError: lastError ?? null },
  };
}

/**
 * The number of records of the kind that changed after the last window that the consumer read to its end; of all
 * records if there is no such window; at most {@link MOST_COUNTED}. Null if counting fails, takes too long, or would
 * begin after `countUntil` (as `performance.now()` has it).
 */
async function recordsBehind(
  db: mongo.Db,
  { _id, ended }: StoredConsumer,
  countUntil: number,
): Promise<number | null> {
  const maxTimeMS = Math.min(COUNT_MS, Math.floor(countUntil - performance.now()));
  if (maxTimeMS < 1) return null;
  const { organizationid, appid, kind } = _id;
  const since = ended === undefined ? {} : { lastupdated: { $gt: ended.to } };
  const records = recordsIn(db, kind);
  const query = { organizationid, appid, ...since };
  const limits = { limit: MOST_COUNTED, maxTimeMS };
  return alongIndex(records, BY_STAMP, (hint) => records.countDocuments(query, { ...limits, hint })).catch(
    () => null,
  );
}

/**
 * The greatest stamp of each application and kind: the later of the greatest stamp of its records up to `now` and its
 * stored head, which the leader writes from the changes that it reads.
 */
async function greatestOf(db: mongo.Db, consumers: StoredConsumer[], now: Date): Promise<Map<string, Date>> {
  const kinds = new Map(consumers.map(({ _id }) => [nameOfKind(_id), keyOf(_id)]));
  const ids = [...kinds.values()];
  const heads = await db
    .collection<StoredHead>(HEADS)
    .find({ _id: { $in: ids } })
    .toArray();
  const records: Awaited<ReturnType<typeof newestRecord>>[] = [];
  for (let start = 0; start < ids.length; start += AT_ONCE) {
    const some = ids.slice(start, start + AT_ONCE);
    records.push(...(await Promise.all(some.map((key) => newestRecord(db, key, now)))));
  }
  const greatest = new Map<string, Date>();
  for (const { _id, stamp } of [...heads, ...records]) {
    const name = nameOfKind(_id);
    const known = greatest.get(name);
    if (stamp !== undefined && (known === undefined || stamp > known)) greatest.set(name, stamp);
  }
  return greatest;
}

/** Reads one key of the index that the feeds use. */
async function newestRecord(
  db: mongo.Db,
  key: StoredHead['_id'],
  now: Date,
): Promise<{ _id: StoredHead['_id']; stamp: Date | undefined }> {
  const { organizationid, appid, kind } = key;
  const records = recordsIn(db, kind);
  const newest = await alongIndex(records, BY_STAMP, (hint) =>
    records.findOne<{ lastupdated: Date }>(
      { organizationid, appid, lastupdated: { $lte: now } },
      { sort: { lastupdated: -1 }, projection: { _id: 0, lastupdated: 1 }, hint, maxTimeMS: COUNT_MS },
    ),
  );
  return { _id: key, stamp: newest?.lastupdated };
}

function keyOf({ organizationid, appid, kind }: Tenant & { kind: Kind }): StoredHead['_id'] {
  return { organizationid, appid, kind };
}

function schemaOf({ organizationid, appid, kind, service }: StoredConsumer['_id']): ServiceKey {
  return { organizationid, appid, kind, name: service };
}

function nameOfKind({ organizationid, appid, kind }: Tenant & { kind: Kind }): string {
  return `${organizationid}/${appid}/${kind}`;
}

function nameOfReader({ username, ...kind }: StoredConsumer['_id']): string {
  return JSON.stringify([username, nameOfKind(kind)]);
}
