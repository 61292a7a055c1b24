import type { Connection, mongo } from 'mongoose';
import {
  APPLICATIONS,
  DEFAULT_SERVICE,
  effortInSteps,
  type Filter,
  filterFault,
  isEnabled,
  isOff,
  isNamed,
  type ServiceKey,
  SERVICES,
  type StoredService,
} from '../application/plain.js';
import { CREDENTIALS } from '../auth/plain.js';
import { TimeSlice } from '../platform/common/index.js';
import { indexName, listedIndexes, type MissingRight, missingRights } from '../platform/database/plain.js';
import { recordCollections } from '../kinds/index.js';
import { documentOf } from '../record/index.js';
import {
  countPending,
  FILTER_VERSIONS,
  firstPending,
  type PendingService,
  HORIZONS,
  LEDGER,
  MARKS,
  MOMENTS,
  readFormat,
  readWatcherStatus,
  STORAGE_FORMATS,
  WATCH_TOTALS,
  type WatcherStatus,
  type WatchTotals,
  countSetAside,
  QUARANTINE,
  type SetAside,
} from '../replication/store/plain.js';
import { type FilterVersionChange, WATCHER } from '../replication/protocol/index.js';
import {
  countEmailDuplicates,
  EMAIL_DUPLICATES,
  type AuditProgress,
  AUDITS,
  LEDGER_AUDIT,
} from '../replication/watcher/plain.js';
import { type ListedKind, listKinds } from './listed-kinds.js';
import { edited, serviceFault } from './service-rules.js';
import { nameOfService } from './services.js';

const MOST_SHOWN = 20;
/** Services read per batch; each may have 64 KiB or more. */
const AT_ONCE = 20;
const BEYOND =
  'The services of the application exceed its limits of number or size, and this service is beyond them.';

/** The progress of the ledger's audit. */
export type AuditStatus = Pick<
  AuditProgress,
  'round' | 'kind' | 'slices' | 'lastRoundSeconds' | 'roundSeconds' | 'found'
>;

/** Members of one application with an e-mail that another member already has. */
interface EmailDuplicateGroup {
  organizationid: string;
  appid: string;
  emailkey: string;
  /** The `_id`s of the first ones. */
  members: string[];
  /** The number of further members; absent if there are none. */
  others?: number;
}

/** An entry of the quarantine: a record, a hard delete or `services` that could not be processed or written. */
interface SetAsideStatus {
  what: string;
  /** `_id` of the record or of the ledger entry; empty for `services`. */
  _id: string;
  since: Date;
  reason: string;
}

/**
 * An enabled service whose filter or fields would be refused if they were saved now, or that is beyond the limits of
 * its application.
 */
interface FaultyService {
  /** Such as `product service "erp" of acme/webshop`. */
  service: string;
  detail: string;
  /**
   * Whether it is served anyway. True if only its regular expressions, or the numbers in its paths, would be refused
   * now: those are checked only when a filter is saved.
   */
  isServed: boolean;
}

export interface Status {
  database: { name: string; version: string; replicaSet: string | undefined };
  /** The storage format in force, and the newest one that this version knows (docs/upgrading.md). */
  storageFormat: { inForce: number; newest: number };
  /**
   * Indexes that the service needs but that do not exist or are hidden, such as `members: organizationid, appid, id`.
   */
  missingIndexes: string[];
  /**
   * Indexes of other programs over the same fields as an index of the service, such as `members: theirs`. They are
   * harmless.
   */
  indexesOfOthers: string[];
  watcher: WatcherStatus;
  /** All kinds of records, those that are built in first. */
  kinds: ListedKind[];
  /** Actions that the user of the connection string lacks; empty without a login. */
  missingRights: MissingRight[];
  /** Totals of all leaders since the first start. */
  totals: Omit<WatchTotals, '_id'>;
  /** Undefined if no audit has run yet. */
  audit: AuditStatus | undefined;
  /** Hard deletes up to this time may have expired; undefined if none has expired yet. */
  hardDeletesExpired: Date | undefined;
  documents: Record<string, number>;
  /**
   * Pending services, earliest edit first. New windows of their feeds are not served until the records are re-stamped.
   */
  pendingServices: { services: number; first: PendingService[] };
  emailDuplicates: { members: number; first: EmailDuplicateGroup[] };
  /**
   * Enabled services that are beyond the limits of their application, or whose filter or fields would be refused now.
   */
  faultyFilters: { services: number; first: FaultyService[] };
  /** Entries of the quarantine, oldest first. */
  quarantine: { events: number; first: SetAsideStatus[] };
}

/** Reads the status of the database and the watcher. */
export async function statusOf(connection: Connection): Promise<Status> {
  const db = connection.getClient().db(connection.name);
  const hello = await db.admin().command({ hello: 1 });
  const indexes = await listedIndexes(connection);
  const { version } = (await db.admin().buildInfo()) as { version: string };
  const watcher = await readWatcherStatus(connection);
  return {
    database: { name: connection.name, version, replicaSet: hello['setName'] as string | undefined },
    storageFormat: { inForce: await readFormat(connection), newest: STORAGE_FORMATS.newest },
    missingIndexes: indexes.flatMap(({ missing }) => missing).map(indexName),
    indexesOfOthers: indexes.flatMap(({ others }) => others),
    watcher,
    kinds: await listKinds(db),
    missingRights: (await missingRights(connection, recordCollections())) ?? [],
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

/** The remaining time of a stamping is unknown while no instance leads. */
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

/** The stamp of the newest expired hard delete of all applications. */
async function hardDeletesExpired(db: mongo.Db): Promise<Date | undefined> {
  const horizons = db.collection<{ lastupdated: Date }>(HORIZONS);
  return (await horizons.findOne({}, { sort: { lastupdated: -1 } }))?.lastupdated;
}

async function documentCounts(db: mongo.Db): Promise<Status['documents']> {
  const counted = [APPLICATIONS, SERVICES, CREDENTIALS, ...recordCollections(), LEDGER, MARKS, MOMENTS];
  const counts = await Promise.all(
    counted.map(async (name) => [name, await db.collection(name).estimatedDocumentCount()] as const),
  );
  return Object.fromEntries(counts);
}

async function firstEmailDuplicates(db: mongo.Db): Promise<EmailDuplicateGroup[]> {
  const groups = await db
    .collection(EMAIL_DUPLICATES)
    .aggregate<{
      _id: Omit<EmailDuplicateGroup, 'members' | 'others'>;
      members: mongo.ObjectId[];
      all: number;
    }>([
      {
        $group: {
          _id: { organizationid: '$organizationid', appid: '$appid', emailkey: '$emailkey' },
          members: { $firstN: { input: '$_id', n: MOST_SHOWN } },
          all: { $sum: 1 },
        },
      },
      { $sort: { _id: 1 } },
      { $limit: MOST_SHOWN },
    ])
    .toArray();
  return groups.map(({ _id, members, all }) => ({
    ...{ ..._id, members: members.map(String) },
    ...(all > members.length && { others: all - members.length }),
  }));
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

/** Counts the faulty services, and lists the first of them. */
async function faultyFilters(db: mongo.Db): Promise<{ services: number; first: FaultyService[] }> {
  const sort = { organizationid: 1, appid: 1, kind: 1, name: 1 } as const;
  const stored = db.collection(SERVICES).find({}, { sort, batchSize: AT_ONCE, raw: true });
  const beyond = await beyondLimits(db);
  const first: FaultyService[] = [];
  let services = 0;
  const slice = new TimeSlice();
  for await (const one of stored) {
    await slice.step();
    const service = documentOf<StoredService>(one);
    if (!isNamed(service) || isOff(service)) continue;
    const isBeyond = beyond.has(nameOfService(service));
    const filter = service.name === DEFAULT_SERVICE ? {} : service.filter;
    const invalid = isBeyond
      ? BEYOND
      : (enabledFaultOf(service) ?? filterFault(filter) ?? fieldsFaultOf(service, filter as Filter));
    const detail = invalid ?? (await slice.take(effortInSteps(filter as Filter)));
    if (detail === undefined) continue;
    services += 1;
    if (first.length < MOST_SHOWN)
      first.push({ service: nameOfService(service), detail, isServed: invalid === undefined });
  }
  return { services, first };
}

/** Why a service that is not off is not on either. */
function enabledFaultOf(service: StoredService): string | undefined {
  return isEnabled(service) ? undefined : '/enabled is not true or false.';
}

/** Why the fields of a service are not valid, alone or together with its filter, as a sentence. */
function fieldsFaultOf(service: StoredService & ServiceKey, filter: Filter): string | undefined {
  const fault = serviceFault({ ...edited(service, {}), name: service.name, filter });
  return fault && `${fault.pointer} ${fault.detail}`;
}

/** Names of the services that are not served because they are beyond the limits of their application. */
async function beyondLimits(db: mongo.Db): Promise<Set<string>> {
  const found = db
    .collection<ServiceKey & FilterVersionChange>(FILTER_VERSIONS)
    .find({ state: 'beyond' })
    .project<ServiceKey>({ organizationid: 1, appid: 1, kind: 1, name: 1 });
  const names = new Set<string>();
  for await (const key of found) names.add(nameOfService(key));
  return names;
}
