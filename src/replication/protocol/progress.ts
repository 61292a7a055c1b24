import type { mongo } from 'mongoose';
import { bsonTypeOf, type Tenant } from '../../record/pure.js';
import { describedKind, isBuiltIn, isKind, type Kind, kindNames } from '../../kinds/index.js';
import type { Pace, StoredWork, Work } from './estimates.js';
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
export interface AsideProgress extends Tenant, Partial<Work>, WatchProgress {}

/**
 * The progress of a kind that an operator has created (contract §8). Until the first pass over its records has ended, it has
 * no `since`, and nothing of it is shown.
 */
export interface KindProgress extends Pick<WatchProgress, 'since' | 'pass'> {
  kind: Kind;
  /** The document of the kind. Another document with the same name is another kind, and needs a pass of its own. */
  document: string;
  /** Why its pass cannot begin, as sentences for an operator. */
  fault?: string;
}

/** An application, or one kind of its records. */
export interface Observed extends Tenant {
  kind?: Kind;
}

/** The progress of the main loop, of the applications that are aside, and of the kinds that operators have created. */
export interface TotalProgress extends WatchProgress {
  aside?: readonly AsideProgress[];
  kinds?: readonly KindProgress[];
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
  /** What is known of the work until the watcher reaches the present; empty while no instance leads. */
  work: StoredWork;
}

/**
 * The progress of the watcher for one application, or for one kind of its records. A stored value that is not a cluster time
 * counts as absent.
 */
export function progressOf(state: TotalProgress, observed: Observed): WatchProgress {
  const own = asideIn(state)?.find((one) => isOf(one, observed));
  const progress = progressAt(state, () => [own ?? state]);
  return [own, kindProgress(state, observed.kind)].reduce<WatchProgress>(limitedBy, progress);
}

/**
 * The progress of a kind that an operator has created; undefined for the built-in kinds, which have no pass of their
 * own.
 */
function kindProgress(
  { kinds }: TotalProgress,
  kind: Kind | undefined,
): Pick<WatchProgress, 'since' | 'pass'> | undefined {
  if (kind === undefined || isBuiltIn(kind)) return undefined;
  const list: unknown = kinds;
  const document = documentOf(kind);
  const found = Array.isArray(list)
    ? (list as (KindProgress | null)[]).find((one) => one?.kind === kind && one.document === document)
    : undefined;
  return isPlace(found?.since) ? { since: found.since } : { pass: found?.pass ?? NOT_BEGUN };
}

/** The `pass` of a kind whose pass is due, but has not begun. */
const NOT_BEGUN = {};

const documentOf = (kind: Kind): string => (isKind(kind) && describedKind(kind).document) || '';

/**
 * Limits progress to that of an application's or kind's own pass: a pass is running if either is, and the later `since`
 * counts.
 */
function limitedBy(
  progress: WatchProgress,
  own: Pick<WatchProgress, 'since' | 'pass'> | undefined,
): WatchProgress {
  if (own === undefined) return progress;
  const pass = progress.pass ?? own.pass ?? undefined;
  const since = progress.since && isPlace(own.since) ? latest(progress.since, own.since) : progress.since;
  return { ...progress, ...(since && { since }), ...(pass !== undefined && { pass }) };
}

/** The progress of the watcher for all applications: that of the slowest. */
export function progressOfAll(state: TotalProgress): WatchProgress {
  return progressAt(state, (aside) => [state, ...aside]);
}

/** The applications that are aside, and the created kinds, that are not processed up to a cluster time. */
export interface Laggards {
  /** A pass of their own is running or due, or has ended after that time. */
  passing: Tenant[];
  /** Their lanes have not reached it. */
  behind: Tenant[];
  /** The created kinds over which a pass is running or due, or has ended after that time. */
  kinds: Kind[];
  /** A pass over everything has ended after that time: it may have found changes that no event has reported. */
  isOutdated: boolean;
}

/**
 * The applications and kinds that are not processed up to a cluster time. Undefined if the main loop has not reached it, if a pass
 * over everything is running, or if it is unknown which applications are aside.
 */
export function laggardsAt(state: TotalProgress, at: mongo.Timestamp): Laggards | undefined {
  const aside = asideIn(state);
  const isKnown = aside?.every((one) => isNamed(one)) === true;
  const isReached = (progress: WatchProgress) => !isPreparing(progress) && progress.watched!.compare(at) >= 0;
  const isOutdated = ({ since }: { since?: unknown }) => isPlace(since) && since.compare(at) > 0;
  if (!isKnown || !isReached(progressAt(state, () => [state]))) return undefined;
  const passing = aside.filter((one) => one.pass !== undefined || isOutdated(one));
  const behind = aside.filter((one) => !passing.includes(one) && !isReached(progressOf(state, one)));
  const kinds = kindNames().filter((kind) => {
    const { since, pass } = kindProgress(state, kind) ?? {};
    return pass !== undefined || isOutdated({ since });
  });
  return { passing: passing.map(named), behind: behind.map(named), kinds, isOutdated: isOutdated(state) };
}

/** The applications over which a pass of their own is running or due; undefined during a pass over everything. */
export function passingIn(state: TotalProgress): Tenant[] | undefined {
  if (isPreparing(progressAt(state, () => [state]))) return undefined;
  return knownAside(state)
    .filter(({ pass }) => pass !== undefined)
    .map(named);
}

function named({ organizationid, appid }: Tenant): Tenant {
  return { organizationid, appid };
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
    ...(isPresent(pass) && { pass }),
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

/** Other programs can write null, which counts as absent. */
function isPresent(value: unknown): boolean {
  return value !== undefined && value !== null;
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
  kind,
}: Observed): Record<'since' | 'pass' | 'watched' | 'isAside' | 'work', mongo.Document> {
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
  const ofKind = kind === undefined || isBuiltIn(kind) ? undefined : kindIn(kind);
  const since = { $max: ['$since', placeAt(ofOwn('since')), ...(ofKind ? [ofKind.since] : [])] };
  return {
    since: { $cond: [isStoredPlace('$since'), since, '$$REMOVE'] },
    pass: { $ifNull: ['$pass', ofOwn('pass'), ...(ofKind ? [ofKind.pass] : []), '$$REMOVE'] },
    watched: { $cond: [IS_LIST, placeAt(placed), '$$REMOVE'] },
    isAside,
    work,
  };

  /** A field of the application's entry; missing if there is none. */
  function ofOwn(field: string): mongo.Document {
    return { $cond: [isAside, { $getField: { field, input: { $first: own } } }, '$$REMOVE'] };
  }
}

/** {@link kindProgress}, as the database computes it. */
function kindIn(kind: Kind): Record<'since' | 'pass', mongo.Document> {
  const list = { $cond: [{ $isArray: ['$kinds'] }, '$kinds', []] };
  const isIt = {
    $and: [{ $eq: ['$$this.kind', literal(kind)] }, { $eq: ['$$this.document', literal(documentOf(kind))] }],
  };
  const found = { $first: { $filter: { input: list, cond: isIt } } };
  const since = placeAt({ $getField: { field: 'since', input: found } });
  const isPassed = { $eq: [{ $type: since }, 'timestamp'] };
  const pass = { $ifNull: [{ $getField: { field: 'pass', input: found } }, literal(NOT_BEGUN)] };
  return { since, pass: { $cond: [isPassed, '$$REMOVE', pass] } };
}

function isStoredPlace(value: string): mongo.Document {
  return { $eq: [{ $type: value }, 'timestamp'] };
}
