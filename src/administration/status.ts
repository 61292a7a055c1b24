import type { Connection, mongo } from 'mongoose';
import {
  APPLICATIONS,
  effortInSteps,
  type Filter,
  filterFault,
  isEnabled,
  isNamed,
  type ServiceKey,
  SERVICES,
  type StoredService,
} from '../application/plain.js';
import { CREDENTIALS } from '../auth/plain.js';
import { TimeSlice } from '../common/index.js';
import { indexName, listedIndexes } from '../database/plain.js';
import type { Metrics } from '../observability/index.js';
import { COLLECTION_OF } from '../record/index.js';
import {
  countPending,
  FILTER_VERSIONS,
  firstPending,
  type PendingService,
  HORIZONS,
  LEDGER,
  MARKS,
  MOMENTS,
  type CountsByWord,
  readWatcherStatus,
  WATCH_TOTALS,
  type WatcherStatus,
  type WatchTotals,
  countSetAside,
  QUARANTINE,
  type SetAside,
} from '../replication/store/plain.js';
import { type FilterVersionChange, shareDone, WATCHER } from '../replication/protocol/index.js';
import {
  countEmailDuplicates,
  EMAIL_DUPLICATES,
  type AuditProgress,
  AUDITS,
  LEDGER_AUDIT,
} from '../replication/watcher/plain.js';
import { nameOfService } from './services.js';

const COUNTED = [
  ...[APPLICATIONS, SERVICES, CREDENTIALS, COLLECTION_OF.member, COLLECTION_OF.product],
  ...[LEDGER, MARKS, MOMENTS],
];
const MOST_SHOWN = 20;
/** Services read at a time; each may take 64 KB or more. */
const AT_ONCE = 20;
const BEYOND = 'The application exceeds its limit of services, and this is one of those that came last.';

/** Where the audit of the ledger stands. */
export type AuditStatus = Pick<
  AuditProgress,
  'round' | 'kind' | 'slices' | 'lastRoundSeconds' | 'roundSeconds' | 'found'
>;

/** Two or more members of one application that share an e-mail; `_id`s of those that came second. */
interface EmailDuplicateGroup {
  organizationid: string;
  appid: string;
  emailkey: string;
  members: string[];
}

/** A record or hard delete whose events could not be worked through. */
interface SetAsideStatus {
  what: string;
  /** `_id` of the record, or of the ledger entry. */
  _id: string;
  since: Date;
  reason: string;
}

/** An enabled service that could not be saved today, with the filter that it has or with any. */
interface FaultyFilter {
  /** Such as `product service "erp" of acme/webshop`. */
  service: string;
  detail: string;
  /** Whether it is served anyway: a filter stored before its regular expressions were refused still is. */
  isServed: boolean;
}

export interface Status {
  database: { name: string; version: string; replicaSet: string | undefined };
  /** Indexes that the service needs and that do not stand, such as `members: organizationid, appid, id`. */
  missingIndexes: string[];
  /** Indexes of other programs over the fields of one of the service's, such as `members: theirs`: they do no harm. */
  indexesOfOthers: string[];
  watcher: WatcherStatus;
  /** What all leaders did since the beginning. */
  totals: Omit<WatchTotals, '_id'>;
  /** Undefined where no audit ran yet. */
  audit: AuditStatus | undefined;
  /** Hard deletes up to here may be gone; undefined where all are kept. */
  hardDeletesExpired: Date | undefined;
  documents: Record<string, number>;
  /** Services whose edited filter is not in force yet: their feeds wait. Those that were edited first. */
  pendingServices: { services: number; first: PendingService[] };
  emailDuplicates: { members: number; first: EmailDuplicateGroup[] };
  /** Services that could not be saved today: for their filter, or since their application has more than are allowed. */
  faultyFilters: { services: number; first: FaultyFilter[] };
  /** What was set aside, the oldest first. */
  quarantine: { events: number; first: SetAsideStatus[] };
}

/** How the database and the watcher stand. */
export async function statusOf(connection: Connection): Promise<Status> {
  const db = connection.getClient().db(connection.name);
  const hello = await db.admin().command({ hello: 1 });
  const indexes = await listedIndexes(connection);
  const { version } = (await db.admin().buildInfo()) as { version: string };
  const watcher = await readWatcherStatus(connection);
  return {
    database: { name: connection.name, version, replicaSet: hello['setName'] as string | undefined },
    missingIndexes: indexes.flatMap(({ missing }) => missing).map(indexName),
    indexesOfOthers: indexes.flatMap(({ others }) => others),
    watcher,
    totals: await totals(db),
    audit: await audit(db),
    hardDeletesExpired: await hardDeletesExpired(db),
    documents: await documentCounts(db),
    pendingServices: await pendingServices(connection, watcher),
    emailDuplicates: {
      members: await countEmailDuplicates(connection),
      first: await firstEmailDuplicates(db),
    },
    faultyFilters: await faultyFilters(db),
    quarantine: { events: await countSetAside(connection), first: await firstSetAside(db) },
  };
}

/** How long a stamping will take is not known while no instance leads. */
async function pendingServices(
  connection: Connection,
  { leader }: WatcherStatus,
): Promise<Status['pendingServices']> {
  const { services } = await countPending(connection);
  const first = services === 0 ? [] : await firstPending(connection);
  return {
    services,
    first: leader === undefined ? first.map((one) => ({ ...one, secondsLeft: undefined })) : first,
  };
}

async function totals(db: mongo.Db): Promise<Status['totals']> {
  const projection = { _id: 0 };
  return (await db.collection<WatchTotals>(WATCH_TOTALS).findOne({ _id: WATCHER }, { projection })) ?? {};
}

async function audit(db: mongo.Db): Promise<AuditStatus | undefined> {
  const progress = await db.collection<AuditProgress>(AUDITS).findOne({ _id: LEDGER_AUDIT });
  if (progress === null) return undefined;
  const { round, kind, slices, lastRoundSeconds, roundSeconds, found } = progress;
  return { round, kind, slices, lastRoundSeconds, roundSeconds, found };
}

/** The newest hard delete that is kept no longer, of all applications. */
async function hardDeletesExpired(db: mongo.Db): Promise<Date | undefined> {
  const horizons = db.collection<{ lastupdated: Date }>(HORIZONS);
  return (await horizons.findOne({}, { sort: { lastupdated: -1 } }))?.lastupdated;
}

async function documentCounts(db: mongo.Db): Promise<Status['documents']> {
  const counts = await Promise.all(
    COUNTED.map(async (name) => [name, await db.collection(name).estimatedDocumentCount()] as const),
  );
  return Object.fromEntries(counts);
}

async function firstEmailDuplicates(db: mongo.Db): Promise<EmailDuplicateGroup[]> {
  const groups = await db
    .collection(EMAIL_DUPLICATES)
    .aggregate<{ _id: Omit<EmailDuplicateGroup, 'members'>; members: mongo.ObjectId[] }>([
      {
        $group: {
          _id: { organizationid: '$organizationid', appid: '$appid', emailkey: '$emailkey' },
          members: { $push: '$_id' },
        },
      },
      { $sort: { _id: 1 } },
      { $limit: MOST_SHOWN },
    ])
    .toArray();
  return groups.map(({ _id, members }) => ({ ..._id, members: members.map(String) }));
}

async function firstSetAside(db: mongo.Db): Promise<SetAsideStatus[]> {
  const found = await db
    .collection<SetAside>(QUARANTINE)
    .find({}, { sort: { since: 1 }, limit: MOST_SHOWN })
    .toArray();
  return found.map(({ _id: concern, since, reason }) => ({
    what: concern.what === 'record' ? concern.kind : concern.what,
    _id: concern.what === 'services' ? '' : concern.owner.toHexString(),
    since,
    reason,
  }));
}

/** How many such services there are, and the first of them. */
async function faultyFilters(db: mongo.Db): Promise<{ services: number; first: FaultyFilter[] }> {
  const sort = { organizationid: 1, appid: 1, kind: 1, name: 1 } as const;
  const stored = db.collection(SERVICES).find<StoredService>({}, { sort, batchSize: AT_ONCE });
  const beyond = await beyondLimits(db);
  const first: FaultyFilter[] = [];
  let services = 0;
  const slice = new TimeSlice();
  for await (const service of stored) {
    await slice.step();
    if (!isNamed(service) || !isEnabled(service)) continue;
    const isBeyond = beyond.has(nameOfService(service));
    const invalid = isBeyond ? BEYOND : filterFault(service.filter);
    const detail = invalid ?? (await slice.take(effortInSteps(service.filter as Filter)));
    if (detail === undefined) continue;
    services += 1;
    if (first.length < MOST_SHOWN)
      first.push({ service: nameOfService(service), detail, isServed: invalid === undefined });
  }
  return { services, first };
}

/** The names of those that are not served since their application has more than are allowed. */
async function beyondLimits(db: mongo.Db): Promise<Set<string>> {
  const found = db
    .collection<ServiceKey & FilterVersionChange>(FILTER_VERSIONS)
    .find({ state: 'beyond' })
    .project<ServiceKey>({ organizationid: 1, appid: 1, kind: 1, name: 1 });
  const names = new Set<string>();
  for await (const key of found) names.add(nameOfService(key));
  return names;
}

/** How the service does at a moment, to be asked every few seconds. What is not known is null. */
export interface Figures {
  at: Date;
  /** The instance that answers, by its host and a name of this start: what it counts begins anew with it. */
  instance: string;
  /** Of this instance since its start: requests that it has answered, those of them with a 5xx, and items of feeds. */
  requests: number;
  failures: number;
  items: number;
  /** Of all instances since the beginning. */
  restamps: number;
  tombstones: number;
  /** How far the watcher is behind, and how long it may stay away, in seconds. */
  lagSeconds: number | null;
  oplogWindowSeconds: number | null;
  quarantined: number | null;
  /** Of the pass under way, 0 to 1; null where there is none. */
  passDone: number | null;
}

/** Reads the figures: three small documents, and what the instance has counted. */
export async function readFigures(
  connection: Connection,
  metrics: Metrics,
  instance: string,
): Promise<Figures> {
  const totals = connection.db!.collection<WatchTotals>(WATCH_TOTALS);
  const [status, total, quarantined, requests, items] = await Promise.all([
    readWatcherStatus(connection),
    totals.findOne({ _id: WATCHER }),
    countSetAside(connection).catch(() => null),
    metrics.requests.get(),
    metrics.items.get(),
  ]);
  const answered = requests.values.filter(({ metricName }) => metricName?.endsWith('_count'));
  const failed = answered.filter(({ labels }) => Number(labels.status) >= 500);
  return {
    at: new Date(),
    instance,
    ...{ requests: sum(answered), failures: sum(failed), items: sum(items.values) },
    ...{ restamps: sumOfWords(total?.restamps), tombstones: total?.tombstones ?? 0 },
    lagSeconds: status.lagSeconds ?? null,
    oplogWindowSeconds: status.oplogWindowSeconds ?? null,
    quarantined,
    passDone: status.pass === undefined ? null : shareDone(status.pass),
  };
}

function sum(counts: { value: number }[]): number {
  return counts.reduce((total, { value }) => total + value, 0);
}

function sumOfWords(counts: CountsByWord = {}): number {
  return Object.values(counts).reduce<number>((total, count) => total + (count ?? 0), 0);
}
