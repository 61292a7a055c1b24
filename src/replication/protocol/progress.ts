import type { mongo } from 'mongoose';
import { bsonTypeOf, type Tenant } from '../../record/pure.js';
import type { Pace, StoredWork, Work } from './estimates.js';
import { literal } from '../../common/index.js';

/** How far the watcher has come, in cluster times. */
export interface WatchProgress {
  /** Everything up to here is worked through. */
  watched?: mongo.Timestamp;
  /** End of the last pass: what was before cannot be shown any more. */
  since?: mongo.Timestamp;
  /** Present while a pass is under way. */
  pass?: unknown;
}

/** Whether nothing can be shown yet: a pass is under way, or the stream has not come to its end (503 `preparing`). */
export function isPreparing({ watched, since, pass }: WatchProgress): boolean {
  return pass !== undefined || since === undefined || watched === undefined || watched.compare(since) < 0;
}

/**
 * How far the leader has come with an application that it works through beside all others (design §10): its work is counted in changes
 * that the log tells, with those that the watcher itself will cause by then.
 */
interface AsideProgress extends Tenant, Partial<Work>, WatchProgress {}

/** The progress of the stream, with the applications that have a progress of their own. */
export interface TotalProgress extends WatchProgress {
  aside?: readonly AsideProgress[];
  /** Of the main loop, in seconds of the log. */
  pace?: Pace;
}

/** The watcher's progress at one look, with one application or with all. */
export interface ProgressLook {
  /** The database's clock. */
  clock: Date;
  progress: WatchProgress;
  /** Everything up to here is worked through. */
  watched: mongo.Timestamp;
  /** Whether it is one application that the leader works through beside all others. */
  isAside: boolean;
  /** What the watcher does until it has come to the present; nothing is known of it while no instance leads. */
  work: StoredWork;
}

/** How far the watcher has come with one application. What is stored in place of a cluster time tells nothing. */
export function progressOf(state: TotalProgress, tenant: Tenant): WatchProgress {
  const own = asideIn(state)?.find((one) => isOf(one, tenant));
  const progress = progressAt(state, () => [own ?? state]);
  if (own === undefined) return progress;
  const pass = progress.pass ?? own.pass;
  const since = progress.since && isPlace(own.since) ? latest(progress.since, own.since) : progress.since;
  return { ...progress, ...(since && { since }), ...(pass !== undefined && { pass }) };
}

/** How far the watcher has come with every application: the slowest tells it. */
export function progressOfAll(state: TotalProgress): WatchProgress {
  return progressAt(state, (aside) => [state, ...aside]);
}

/** Whether an application has a progress of its own. */
export function isAside(state: TotalProgress, tenant: Tenant): boolean {
  return asideIn(state)?.some((one) => isOf(one, tenant)) ?? false;
}

/** The work with an application: its events where it has a progress of its own, else only the pace of the main loop. */
export function workOf(state: TotalProgress, tenant: Tenant): StoredWork {
  return asideIn(state)?.find((one) => isOf(one, tenant)) ?? { pace: state.pace };
}

/** The applications that are aside, without the entries that are damaged. */
export function knownAside(state: TotalProgress): AsideProgress[] {
  return (asideIn(state) ?? []).filter(
    (one: AsideProgress | null) =>
      typeof one?.organizationid === 'string' &&
      typeof one.appid === 'string' &&
      (isPlace(one.watched) || one.pass !== undefined),
  );
}

type Placed = { watched?: unknown } | null | undefined;

function progressAt(
  state: TotalProgress,
  placed: (aside: readonly AsideProgress[]) => readonly Placed[],
): WatchProgress {
  const aside = asideIn(state);
  const places = aside === undefined ? [] : placed(aside).map((one) => one?.watched);
  const watched = places.every(isPlace) ? earliest(places) : undefined;
  const { since, pass } = state;
  return {
    ...(watched && { watched }),
    ...(isPlace(since) && { since }),
    ...(pass !== undefined && { pass }),
  };
}

/** The entries of the applications that are aside; undefined if the field is not a list. */
function asideIn({ aside }: TotalProgress): readonly AsideProgress[] | undefined {
  const list: unknown = aside ?? [];
  return Array.isArray(list) ? (list as AsideProgress[]) : undefined;
}

/** An entry may be anything that somebody else has stored. */
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
const TEXT = '';

/** A cluster time of a document; missing where something else is stored in place of it. */
export function placeAt(value: mongo.Document | string): mongo.Document {
  return { $let: { vars: { value }, in: { $cond: [isStoredPlace('$$value'), '$$value', '$$REMOVE'] } } };
}

/**
 * The fields `since`, `pass`, `watched`, `isAside` and `work` of one application, as the database reads them from the lease: those of
 * {@link progressOf} and {@link workOf}. What a foreign program has stored in place of a cluster time tells nothing.
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

  /** A field of the entry; missing where there is none. */
  function ofOwn(field: string): mongo.Document {
    return { $cond: [isAside, { $getField: { field, input: { $first: own } } }, '$$REMOVE'] };
  }
}

/** The field `watched` of the slowest application, the same as {@link progressOfAll}. */
export const SLOWEST: mongo.Document = {
  $cond: [
    IS_LIST,
    placeAt({
      // A text comes before every cluster time.
      $min: {
        $map: {
          input: { $concatArrays: [[{ watched: '$watched' }], ASIDE] },
          in: { $cond: [isStoredPlace('$$this.watched'), '$$this.watched', TEXT] },
        },
      },
    }),
    '$$REMOVE',
  ],
};

function isStoredPlace(value: string): mongo.Document {
  return { $eq: [{ $type: value }, 'timestamp'] };
}

/** The one document of `tidemark.leases`: who watches, and how far the log is worked through (design §3, Lease). */
export interface WatchState extends WatchProgress {
  _id: typeof WATCHER;
  /** The leading instance; empty if none has led yet. */
  holder: string;
  /** Grows with each new leader; every write names the term in which its work began. */
  term: number;
  /** Database's clock. */
  expires: Date;
  /** Where the stream goes on. */
  token?: unknown;
  pass?: PassProgress;
  /** Of the main loop, in seconds of the log. */
  pace?: Pace;
  /**
   * Applications that are worked through beside all others. To be written as a whole, by `$set` of the field or `$unset`: the
   * control stream tells fields, and no parts of them.
   */
  aside?: AsideApplication[];
}

/**
 * An application that is worked through beside all others, and where its own stream goes on. While a pass of its own is under way, or still
 * to come, it has no place and no `watched`.
 */
export interface AsideApplication extends AsideProgress {
  token?: unknown;
  pass?: PassProgress;
  /** Absent where an earlier version has put it aside. */
  counts?: LaneCounts;
}

/** Events of the log since the application was put aside: those that the main loop has read, and those that its own loop is done with. */
export interface LaneCounts {
  read: EventCounts;
  done: EventCounts;
}

interface EventCounts {
  changes: number;
  /** Events of what the watcher itself writes: tombstones, stamps, `emailkey`s. */
  echoes: number;
}

/** A pass that is under way, over everything or over one application. It counts the records and ledger entries done so far, and about how many there are. */
export interface PassProgress extends Work {
  /** Why, as the log tells it. */
  reason: string;
  /** Whether everything has to be stamped anew, since what happened cannot be told. */
  isRepair: boolean;
  /** Database's clock. */
  started: Date;
  /** Whether the ledger was empty when it began. */
  isBare?: boolean;
  /** Of a pass over one application: present if no pass over it has ended yet. */
  isFirst?: boolean;
  /** Of a pass over everything that is not the first one: the applications over which no pass has ended yet. */
  first?: Tenant[];
  /** Applications that a pass over everything leaves to a pass of their own behind it, the smallest first. */
  later?: Tenant[];
  /** How far it has come; absent at its very beginning. */
  reached?: PassPlace;
}

/** Where a pass goes on that was cut off, by a restart or a fail-over. */
export interface PassPlace {
  /** The place in the log where the stream of the pass was opened: what it learns is knowledge of that place. */
  at: string;
  /** Up to here that stream is worked through. */
  token: unknown;
  /** The step of the pass that is under way, empty before the first one, and the `_id` up to which it is done; absent at its beginning. */
  step: string;
  behind?: mongo.ObjectId;
}

export const WATCHER = 'watcher';
