import type { mongo } from 'mongoose';
import { bsonTypeOf, type Tenant } from '../../record/pure.js';
import type { Pace, StoredWork, Work } from './estimates.js';
import type { Restore } from './restores.js';
import { literal } from '../../platform/common/index.js';

/** The progress of the watcher, in cluster times. */
export interface WatchProgress {
  /** Everything up to this place has been processed. */
  watched?: mongo.Timestamp;
  /** The end of the last pass. Moments before it can no longer be shown. */
  since?: mongo.Timestamp;
  /** Present during a pass. */
  pass?: unknown;
  /** The restores of the database, as {@link Restore}s. Other programs can write them. */
  restores?: unknown;
}

/**
 * Whether nothing can be shown yet (503 `preparing`): a pass is running, or the stream has not reached the end of the last
 * pass.
 */
export function isPreparing({ watched, since, pass }: WatchProgress): boolean {
  return pass !== undefined || since === undefined || watched === undefined || watched.compare(since) < 0;
}

/**
 * The progress of an application that is aside, processed by its own lane (design §10). Its work is counted in changes in
 * the log, including those that the watcher itself is expected to cause.
 */
interface AsideProgress extends Tenant, Partial<Work>, WatchProgress {}

/** The progress of the main loop and of the applications that are aside. */
export interface TotalProgress extends WatchProgress {
  aside?: readonly AsideProgress[];
  /** The pace of the main loop, in seconds of the log. */
  pace?: Pace;
}

/** One reading of the watcher's progress, for one application or for all. */
export interface ObservedProgress {
  /** The database's clock. */
  clock: Date;
  progress: WatchProgress;
  /** Everything up to this place has been processed. */
  watched: mongo.Timestamp;
  /** Whether this is the progress of an application that is aside. */
  isAside: boolean;
  /** The remaining work until the watcher reaches the present; empty while no instance leads. */
  work: StoredWork;
}

/** The progress of the watcher for one application. A stored value that is not a cluster time counts as absent. */
export function progressOf(state: TotalProgress, tenant: Tenant): WatchProgress {
  const own = asideIn(state)?.find((one) => isOf(one, tenant));
  const progress = progressAt(state, () => [own ?? state]);
  if (own === undefined) return progress;
  const pass = progress.pass ?? own.pass;
  const since = progress.since && isPlace(own.since) ? latest(progress.since, own.since) : progress.since;
  return { ...progress, ...(since && { since }), ...(pass !== undefined && { pass }) };
}

/** The progress of the watcher for all applications: that of the slowest. */
export function progressOfAll(state: TotalProgress): WatchProgress {
  return progressAt(state, (aside) => [state, ...aside]);
}

/** The applications that are aside and not processed up to a cluster time. */
export interface Laggards {
  /** A pass of their own is running or due. */
  passing: Tenant[];
  /** Their lanes have not reached it. */
  behind: Tenant[];
}

/**
 * The applications that are not processed up to a cluster time. Undefined if the main loop has not reached it, if a pass
 * over everything is running, or if it is unknown which applications are aside.
 */
export function laggardsAt(state: TotalProgress, at: mongo.Timestamp): Laggards | undefined {
  const aside = asideIn(state);
  const isKnown = aside?.every((one) => isNamed(one)) === true;
  const isReached = (progress: WatchProgress) => !isPreparing(progress) && progress.watched!.compare(at) >= 0;
  if (!isKnown || !isReached(progressAt(state, () => [state]))) return undefined;
  const late = aside.filter((one) => !isReached(progressOf(state, one)));
  const tenants = (isPassing: boolean) =>
    late.flatMap(({ organizationid, appid, pass }) =>
      (pass !== undefined) === isPassing ? [{ organizationid, appid }] : [],
    );
  return { passing: tenants(true), behind: tenants(false) };
}

/** Whether an application is aside, with its own progress. */
export function isAside(state: TotalProgress, tenant: Tenant): boolean {
  return asideIn(state)?.some((one) => isOf(one, tenant)) ?? false;
}

/** The work for an application: its events if it is aside, otherwise only the pace of the main loop. */
export function workOf(state: TotalProgress, tenant: Tenant): StoredWork {
  return asideIn(state)?.find((one) => isOf(one, tenant)) ?? { pace: state.pace };
}

/** The applications that are aside, without malformed entries. */
export function knownAside(state: TotalProgress): AsideProgress[] {
  return (asideIn(state) ?? []).filter(
    (one: AsideProgress | null) => isNamed(one) && (isPlace(one.watched) || one.pass !== undefined),
  );
}

function isNamed(one: AsideProgress | null): one is AsideProgress {
  return typeof one?.organizationid === 'string' && typeof one.appid === 'string';
}

type Placed = { watched?: unknown } | null | undefined;

function progressAt(
  state: TotalProgress,
  placed: (aside: readonly AsideProgress[]) => readonly Placed[],
): WatchProgress {
  const aside = asideIn(state);
  const places = aside === undefined ? [] : placed(aside).map((one) => one?.watched);
  const watched = places.every(isPlace) ? earliest(places) : undefined;
  const { since, pass, restores } = state;
  return {
    ...(watched && { watched }),
    ...(isPlace(since) && { since }),
    ...(pass !== undefined && { pass }),
    ...(restores !== undefined && { restores }),
  };
}

/** The entries of the applications that are aside; undefined if the field is not a list. */
function asideIn({ aside }: TotalProgress): readonly AsideProgress[] | undefined {
  const list: unknown = aside ?? [];
  return Array.isArray(list) ? (list as AsideProgress[]) : undefined;
}

/** An entry may be malformed, since other programs can write it. */
function isOf(entry: AsideProgress | null, { organizationid, appid }: Tenant): boolean {
  return entry?.organizationid === organizationid && entry.appid === appid;
}

function isPlace(value: unknown): value is mongo.Timestamp {
  return bsonTypeOf(value) === 'Timestamp';
}

function latest(one: mongo.Timestamp, other: mongo.Timestamp): mongo.Timestamp {
  return one.compare(other) >= 0 ? one : other;
}

function earliest(places: mongo.Timestamp[]): mongo.Timestamp | undefined {
  return places.reduce<mongo.Timestamp | undefined>(
    (first, one) => (first !== undefined && first.compare(one) <= 0 ? first : one),
    undefined,
  );
}

/** The field with the entries of the applications that are aside. */
const ASIDE = { $ifNull: ['$aside', []] };
const IS_LIST = { $isArray: [ASIDE] };

/** A cluster time in a document; missing if the stored value has another type. */
export function placeAt(value: mongo.Document | string): mongo.Document {
  return { $let: { vars: { value }, in: { $cond: [isStoredPlace('$$value'), '$$value', '$$REMOVE'] } } };
}

/**
 * The fields `since`, `pass`, `watched`, `isAside` and `work` of one application, as the database computes them from the
 * lease. They equal the results of {@link progressOf} and {@link workOf}. A stored value that is not a cluster time counts
 * as absent.
 */
export function watchedOf({
  organizationid,
  appid,
}: Tenant): Record<'since' | 'pass' | 'watched' | 'isAside' | 'work', mongo.Document> {
  const isOfTenant = {
    $and: [
      { $eq: ['$$this.organizationid', literal(organizationid)] },
      { $eq: ['$$this.appid', literal(appid)] },
    ],
  };
  const own = { $cond: [IS_LIST, { $filter: { input: ASIDE, cond: isOfTenant } }, []] };
  const isAside = { $gt: [{ $size: own }, 0] };
  const placed = { $cond: [isAside, ofOwn('watched'), '$watched'] };
  const work = {
    $let: {
      vars: { one: { $cond: [isAside, { $first: own }, { pace: '$pace' }] } },
      in: { done: '$$one.done', total: '$$one.total', pace: '$$one.pace' },
    },
  };
  const since = { $max: ['$since', placeAt(ofOwn('since'))] };
  return {
    since: { $cond: [isStoredPlace('$since'), since, '$$REMOVE'] },
    pass: { $ifNull: ['$pass', ofOwn('pass')] },
    watched: { $cond: [IS_LIST, placeAt(placed), '$$REMOVE'] },
    isAside,
    work,
  };

  /** A field of the application's entry; missing if there is none. */
  function ofOwn(field: string): mongo.Document {
    return { $cond: [isAside, { $getField: { field, input: { $first: own } } }, '$$REMOVE'] };
  }
}

function isStoredPlace(value: string): mongo.Document {
  return { $eq: [{ $type: value }, 'timestamp'] };
}

/** The one document of `tidemark.leases`: the leader, and how far the log has been processed (design §3, Lease). */
export interface WatchState extends WatchProgress {
  _id: typeof WATCHER;
  /** The leading instance; empty if none has led yet. */
  holder: string;
  /** Grows with each new leader. Every write is conditional on the term in which its work began. */
  term: number;
  /** By the database's clock. */
  expires: Date;
  /** The storage format of the database; absent if an earlier version created the document. */
  format?: number;
  /** The resume token of the stream. */
  token?: unknown;
  pass?: PassProgress;
  restores?: Restore[];
  /** The pace of the main loop, in seconds of the log. */
  pace?: Pace;
  /**
   * The applications that are aside. Always write the whole field, by `$set` or `$unset`: the control stream reports whole
   * fields, not parts of them.
   */
  aside?: AsideApplication[];
}

/**
 * An application that is aside, with the resume token of its own stream. While its own pass is running or due, it has
 * neither a token nor `watched`.
 */
export interface AsideApplication extends AsideProgress {
  token?: unknown;
  pass?: PassProgress;
  /** Absent if an earlier version put the application aside. */
  counts?: LaneCounts;
}

/**
 * Events of the log since the application was put aside: those that the main loop has read, and those that the lane has
 * processed.
 */
export interface LaneCounts {
  read: EventCounts;
  done: EventCounts;
}

interface EventCounts {
  changes: number;
  /** Events caused by the watcher's own writes: tombstones, stamps, `emailkey`s. */
  echoes: number;
}

/**
 * A running pass, over everything or over one application. It counts the records and ledger entries done so far, and their
 * approximate total.
 */
export interface PassProgress extends Work {
  /** The reason, as logged. */
  reason: string;
  /** Whether everything must be re-stamped, because the changes that happened are unknown. */
  isRepair: boolean;
  /** By the database's clock. */
  started: Date;
  /** Whether the ledger was empty when the pass began. */
  isBare?: boolean;
  /** For a pass over one application: present if no pass over it has ended yet. */
  isFirst?: boolean;
  /** For a pass over everything, except the first: the applications over which no pass has ended yet. */
  first?: Tenant[];
  /** Applications that a pass over everything leaves out. Each gets its own pass afterwards, the smallest first. */
  later?: Tenant[];
  /** The progress of the pass; absent at its start. */
  reached?: PassPlace;
}

/** Where an interrupted pass resumes, after a restart or a fail-over. */
export interface PassPlace {
  /** The place in the log at which the pass opened its stream. What the pass learns counts as knowledge of that place. */
  at: string;
  /** The pass's stream has been processed up to this token. */
  token: unknown;
  /**
   * The current step of the pass; empty before the first one. `behind` is the `_id` up to which the step is done; absent at
   * its start.
   */
  step: string;
  behind?: mongo.ObjectId;
}

export const WATCHER = 'watcher';
