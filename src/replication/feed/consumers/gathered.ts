import type { mongo } from 'mongoose';
import type { Kind } from '../../../kinds/index.js';
import type { Tenant } from '../../../record/index.js';
import { literal } from '../../../platform/common/index.js';

/** The service of calls that concern the whole kind: `max` and `harddeletes`. */
export const EVERY_SERVICE = '';

/** A credential that reads a service of an application; channels count as services, such as `channel:web`. */
interface ConsumerKey extends Tenant {
  username: string;
  kind: Kind;
  service: string;
}

/** One request of a consumer, once it has ended. */
export interface Call {
  key: ConsumerKey;
  feed: 'max' | 'updates' | 'softdeletes' | 'harddeletes' | 'changes' | 'digest';
  at: Date;
  /** Undefined if the client left before its answer had begun, and before its service was looked up. */
  status: number | undefined;
  /** The slug of the problem in the answer. */
  problem?: string | undefined;
  /** The window of a feed; undefined for `max`, and for a refused request without a valid `to`. */
  window?: { from?: Date | undefined; to: Date } | undefined;
  /** Whether it is the first page of a window: its request has neither `lastoffsetid` nor a cursor inside a window. */
  isFirst: boolean;
  /** Whether the window may continue: the page was full or cut off, or its headers link to a further one. */
  isFull: boolean;
  /** Whether the answer was sent to its end. */
  isWhole: boolean;
  items: number;
  /** Whether a digest lists records. A consumer requests such a digest for the buckets in which its copy differs. */
  isListing?: boolean;
}

/**
 * A stored consumer: a document of `tidemark.consumers`. Times of calls are from the clocks of the instances, bounds of
 * windows from the clock of the database.
 */
export interface StoredConsumer {
  _id: ConsumerKey;
  firstCall: Date;
  lastCall: Date;
  calls: number;
  pages: number;
  items: number;
  errors: number;
  lastError?: { at: Date; status: number; feed: Call['feed'] };
  /**
   * The last window of `updates` or `changes` that was begun, and the number of times in a row that it was begun with these
   * bounds. For {@link EVERY_SERVICE}, windows are those of `harddeletes`.
   */
  begun?: { at: Date; from?: Date; to: Date; times: number };
  /** The last such window that was read to its end. Those of `changes` include the deletes. */
  ended?: { at: Date; from?: Date; to: Date; hasDeletes?: true };
  /** The last digest. A consumer whose copy equals it lists no records afterwards. */
  digested?: { at: Date; to: Date; isListing: boolean };
  /** How often a window was begun (see `begun`). */
  harvests: number;
  /** When hard deletes were last refused as expired (410 `history-expired`), and when they were last served. */
  expired?: Date;
  told?: Date;
  /** When it was last answered 410 `source-restored`, and when it last began a window without `from`. */
  restored?: Date;
  anew?: Date;
}

const isDate = (value: unknown): boolean => value instanceof Date && !Number.isNaN(value.getTime());
const isDateOrMissing = (value: unknown): boolean => value === undefined || isDate(value);

/**
 * Whether a stored document is a consumer: its key, and the times that are compared, are what they should be. Other
 * programs may have changed it.
 */
export function isConsumer(stored: Partial<StoredConsumer>): stored is StoredConsumer {
  const { _id, firstCall, lastCall, begun, ended, digested, expired, told, restored, anew } = stored;
  const names = [_id?.organizationid, _id?.appid, _id?.username, _id?.kind, _id?.service];
  const windows = [begun, ended].filter((one) => one !== undefined);
  return (
    names.every((name) => typeof name === 'string') &&
    [firstCall, lastCall].every(isDate) &&
    windows.every((one) => isDate(one?.at) && isDate(one?.to) && isDateOrMissing(one?.from)) &&
    (digested === undefined || isDate(digested?.to)) &&
    [expired, told, restored, anew].every(isDateOrMissing)
  );
}

/** A unique name of a consumer. */
export function consumerName({ organizationid, appid, username, kind, service }: ConsumerKey): string {
  return JSON.stringify([organizationid, appid, username, kind, service]);
}

const SUCCESS = 200;
const NOT_MODIFIED = 304;
/**
 * Only these statuses show that the service exists. With another one, such as 400 or 503, the request may have been
 * refused before its service was looked up.
 */
const SERVICE_FOUND = new Set<number | undefined>([SUCCESS, NOT_MODIFIED, 410, 500]);
const COUNTED = ['calls', 'pages', 'items', 'errors', 'harvests'] as const;

/**
 * The feeds whose windows are recorded. Every harvest reads `updates` or `changes`, and each service has its own position
 * there. Hard deletes have one position for all services of a credential.
 */
const WITH_WINDOWS = new Set<Call['feed']>(['updates', 'changes', 'harddeletes']);
const LIST_DELETES = new Set<Call['feed']>(['harddeletes', 'changes']);

/** The totals of one consumer's calls until they are written. */
interface Gathered extends Omit<StoredConsumer, 'firstCall'> {
  /** Whether one of the calls shows that the service exists: if none does, no new consumer is stored. */
  isFound: boolean;
}

/** Calls by consumer, since the last time they were written. */
export type Calls = Map<string, Gathered>;

/** Adds a call to the others of its consumer. */
export function gather(calls: Calls, call: Call): void {
  const name = consumerName(call.key);
  const known = calls.get(name) ?? nothingYet(call.key, call.at);
  calls.set(name, withCall(known, call));
}

function nothingYet(key: ConsumerKey, at: Date): Gathered {
  return { _id: key, lastCall: at, calls: 0, pages: 0, items: 0, errors: 0, harvests: 0, isFound: false };
}

function withCall(known: Gathered, call: Call): Gathered {
  const { at, status, feed, items, problem, isWhole } = call;
  if (feed === 'digest') return { ...known, ...digestOf(call) };
  const isRead = status === SUCCESS && feed !== 'max';
  const isError = status !== undefined && status !== SUCCESS && status !== NOT_MODIFIED;
  return {
    ...known,
    lastCall: at,
    isFound: known.isFound || SERVICE_FOUND.has(status),
    calls: known.calls + 1,
    pages: known.pages + (isRead ? 1 : 0),
    items: known.items + items,
    errors: known.errors + (isError ? 1 : 0),
    ...(isError && { lastError: { at, status, feed } }),
    ...(problem === 'history-expired' && { expired: at }),
    ...(problem === 'source-restored' && { restored: at }),
    ...(isRead && isWhole && LIST_DELETES.has(feed) && { told: at }),
    ...(isRead && WITH_WINDOWS.has(feed) && ofWindow(known, call)),
  };
}

/** A digest alone stores no new consumer, because a credential may request it to check the copies of others. */
function digestOf({ at, status, window, isListing = false }: Call): Partial<Gathered> {
  if (status !== SUCCESS || window === undefined) return {};
  return { lastCall: at, digested: { at, to: window.to, isListing } };
}

function ofWindow(known: Gathered, { at, feed, window, isFirst, isFull, isWhole }: Call): Partial<Gathered> {
  if (window === undefined) return {};
  const { from, to } = window;
  const bounds = { at, ...(from && { from }), to };
  const isAgain = known.begun !== undefined && isSameWindow(known.begun, window);
  const times = (isAgain ? known.begun!.times : 0) + 1;
  return {
    ...(isFirst && { begun: { ...bounds, times }, harvests: known.harvests + 1 }),
    ...(isFirst && from === undefined && { anew: at }),
    ...(isWhole &&
      !isFull && { ended: { ...bounds, ...(feed === 'changes' && { hasDeletes: true as const }) } }),
  };
}

function isSameWindow(
  one: { from?: Date | undefined; to: Date },
  other: { from?: Date | undefined; to: Date },
): boolean {
  return one.from?.getTime() === other.from?.getTime() && one.to.getTime() === other.to.getTime();
}

/**
 * The update that adds the totals of one instance to those of the others. For every other fact, the later of the stored
 * and the gathered one is kept.
 */
export function updateOf({ _id: _key, ...gathered }: Gathered): mongo.Document[] {
  const { begun, lastCall } = gathered;
  const added = (name: (typeof COUNTED)[number]) =>
    [name, { $add: [{ $ifNull: [`$${name}`, 0] }, gathered[name]] }] as const;
  const later = (['lastError', 'ended', 'digested'] as const)
    .filter((name) => gathered[name] !== undefined)
    .map((name) => [name, laterOf(name, gathered[name]!)] as const);
  const latest = (['expired', 'told', 'restored', 'anew'] as const)
    .filter((name) => gathered[name] !== undefined)
    .map((name) => [name, { $max: [`$${name}`, gathered[name]] }] as const);
  const $set: mongo.Document = {
    firstCall: { $ifNull: ['$firstCall', lastCall] },
    lastCall: { $max: ['$lastCall', lastCall] },
    ...Object.fromEntries(COUNTED.map(added)),
    ...Object.fromEntries([...later, ...latest]),
    ...(begun !== undefined && { begun: begunAgain(begun) }),
  };
  return [{ $set }];
}

function laterOf(name: string, fact: { at: Date }): mongo.Document {
  return { $cond: [{ $gt: [`$${name}.at`, fact.at] }, `$${name}`, literal(fact)] };
}

/** Continues the count if the database holds the same window; otherwise starts a new count. */
function begunAgain(begun: NonNullable<StoredConsumer['begun']>): mongo.Document {
  const isSame = {
    $and: [{ $eq: ['$begun.from', begun.from ?? '$begun.missing'] }, { $eq: ['$begun.to', begun.to] }],
  };
  const before = { $cond: [isSame, { $ifNull: ['$begun.times', 0] }, 0] };
  const { times, ...bounds } = begun;
  const counted = { $mergeObjects: [literal(bounds), { times: { $add: [before, times] } }] };
  return { $cond: [{ $gt: ['$begun.at', begun.at] }, '$begun', counted] };
}
