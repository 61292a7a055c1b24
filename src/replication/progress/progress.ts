import mongoose, { type mongo } from 'mongoose';
import type { Tenant } from '../../record/pure.js';
import type { Pace, StoredWork, Work } from './rest.js';

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
export interface AsideProgress extends Tenant, Partial<Work>, WatchProgress {}

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
  return value instanceof mongoose.mongo.Timestamp;
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
