import { type StoredConsumer, EVERY_SERVICE, isConsumer } from './gathered.js';
import { Schema, type mongo } from 'mongoose';
import { earlier } from '../../../platform/common/index.js';
import type { Kind } from '../../../kinds/index.js';
import type { Tenant } from '../../../record/index.js';

export const CONSUMER_STATES = [
  'current',
  'behind',
  'stalled',
  'looping',
  'never finished',
  'must start over',
] as const;

/**
 * The state of a consumer. `current`: it has read everything. `behind`: it is reading and has not caught up. `stalled`: it
 * no longer calls, although there are changes to read. `looping`: it begins the same window repeatedly. `never finished`: it
 * has never read a window to its end. `must start over`: hard deletes that it needs are no longer retained, or it has
 * received changes that a restored database does not have.
 */
export type ConsumerState = (typeof CONSUMER_STATES)[number];

/** A consumer that begins the same window this many times in a row is looping. A few repetitions after errors are normal. */
const LOOP = 5;
/**
 * A consumer is silent if it has not called for this multiple of the mean time between its harvests, and for at least
 * {@link SHORTEST_PAUSE_MS}.
 */
const PAUSES = 5;
const SHORTEST_PAUSE_MS = 15_000;
/**
 * A consumer that has begun more harvests than this, and has finished none, is `never finished` even if it still calls.
 * Up to this number, a harvest may just take long.
 */
const UNFINISHED_HARVESTS = 2;

/** When a consumer was last answered 410, and when it was last served hard deletes. */
type Answers = Pick<StoredConsumer, 'expired' | 'told' | 'restored'>;

/** What determines the state of a consumer, besides the stored consumer itself. */
export interface Surroundings {
  now: Date;
  /** The greatest stamp of the application and kind; undefined without one. */
  greatest: Date | undefined;
  /** The answers to requests of the same credential for `harddeletes`, which concern all services of the kind. */
  ofKind: Answers | undefined;
}

export function consumerState(
  consumer: StoredConsumer,
  { now, greatest, ofKind }: Surroundings,
): ConsumerState {
  const { begun, ended, harvests } = consumer;
  if (mustStartOver(consumer, consumer) || mustStartOver(consumer, ofKind)) return 'must start over';
  if (isBeyondAll(begun, greatest)) return 'must start over';
  const isCurrent = ended !== undefined && (greatest === undefined || ended.to >= greatest);
  if (begun !== undefined && begun.times >= LOOP && isNotEmpty(begun) && !isAhead(consumer)) return 'looping';
  if (isCurrent) return 'current';
  const isSilent = now.getTime() - consumer.lastCall.getTime() > longestPause(consumer);
  if (ended === undefined && (isSilent || harvests > UNFINISHED_HARVESTS)) return 'never finished';
  return isSilent ? 'stalled' : 'behind';
}

/** The lag of a consumer, in milliseconds of stamps; undefined if it has not read any window to its end. */
export function behindMs({ ended }: StoredConsumer, greatest: Date | undefined): number | undefined {
  if (ended === undefined) return undefined;
  return Math.max(0, (greatest?.getTime() ?? 0) - ended.to.getTime());
}

/**
 * Whether a consumer was answered 410 (`history-expired` or `source-restored`), and has not recovered. It recovers from
 * either by beginning a window without `from`, and from `history-expired` also by reading hard deletes successfully.
 */
function mustStartOver({ begun, anew }: StoredConsumer, answers: Answers = {}): boolean {
  const { expired, told, restored } = answers;
  if (restored !== undefined && (anew === undefined || anew < restored)) return true;
  if (expired === undefined || (told !== undefined && told > expired)) return false;
  return begun?.from !== undefined || begun === undefined || begun.at < expired;
}

/** A window with equal bounds is always empty. It may be requested any number of times. */
function isNotEmpty({ from, to }: NonNullable<StoredConsumer['begun']>): boolean {
  return from === undefined || from < to;
}

/**
 * Whether the last window of a consumer begins after its own end and after every change. `max` never decreases that far
 * unless the database is restored. The changes that the consumer has read are then gone.
 */
function isBeyondAll(begun: StoredConsumer['begun'], greatest: Date | undefined): boolean {
  if (begun?.from === undefined || greatest === undefined) return false;
  return begun.from > begun.to && begun.from > greatest;
}

/** Whether the window that was finished last has a later `to` than the one that was begun last. */
function isAhead({ begun, ended }: StoredConsumer): boolean {
  return begun !== undefined && ended !== undefined && ended.to > begun.to;
}

/** The longest normal pause: several times the mean time between two harvests of the consumer. */
function longestPause({ firstCall, lastCall, harvests }: StoredConsumer): number {
  const usual = harvests < 2 ? 0 : (lastCall.getTime() - firstCall.getTime()) / (harvests - 1);
  return Math.max(SHORTEST_PAUSE_MS, PAUSES * usual);
}

export const CONSUMERS = 'tidemark.consumers';

const CONSUMER_MODEL = 'Consumer';

/** A consumer that has not called for half a year is removed. */
const FORGOTTEN_S = 180 * 86_400;

const consumerSchema = new Schema<StoredConsumer>(
  { _id: Object },
  { collection: CONSUMERS, strict: false, versionKey: false },
)
  .index({ '_id.organizationid': 1, '_id.appid': 1 })
  .index({ lastCall: 1 }, { expireAfterSeconds: FORGOTTEN_S });

export const consumerModels = [{ name: CONSUMER_MODEL, schema: consumerSchema }];

export const DELIVERY_STATES = ['open', 'delivered', 'returned', 'proven'] as const;

/**
 * How far a hard delete has come. `open`: the consumer has not read it. `delivered`: the consumer has read a window
 * that contains it to the end, and may not have stored it yet. `returned`: since then, the consumer has requested a
 * window that begins at or after the hard delete, or the last window that it read to the end had no `from`. `proven`:
 * the consumer has also requested a digest that includes the hard delete, and has listed no records afterwards.
 */
export type DeliveryState = (typeof DELIVERY_STATES)[number];

/** The delivery of a hard delete to one consumer. */
export interface Delivery {
  username: string;
  service: string;
  state: DeliveryState;
  /** Up to where it has read updates and hard deletes to the end; null if it has not, or reads no hard deletes. */
  readUpTo: Date | null;
  /** The `from` of the window that it has begun last; null if that had none. */
  askedFrom: Date | null;
  /** The `to` of its last digest, unless that listed records. */
  digestTo: Date | null;
  lastCall: Date;
}

/** The consumers of one kind of an application, as far as hard deletes concern them. */
interface KindConsumers {
  consumers: StoredConsumer[];
  /** What each credential has read of the hard deletes, by its user name. */
  hardDeletes: ReadonlyMap<string, StoredConsumer>;
}

const MOST_CONSUMERS = 2000;
/** The stored time of a consumer's first call may be later than the call by this much. */
const RECORDED_WITHIN_MS = 20_000;

/**
 * The consumers of a kind. If there are more than 2,000, those with the latest calls are omitted: they are the most
 * likely to read a hard delete without being reminded. Documents that are not valid are omitted too.
 */
export async function kindConsumers(
  db: mongo.Db,
  { organizationid, appid, kind }: Tenant & { kind: Kind },
): Promise<KindConsumers> {
  const ofKind = { '_id.organizationid': organizationid, '_id.appid': appid, '_id.kind': kind };
  const found = async (which: mongo.Document) => {
    const all = await db
      .collection<StoredConsumer>(CONSUMERS)
      .find({ ...ofKind, '_id.service': which }, { sort: { lastCall: 1 }, limit: MOST_CONSUMERS })
      .toArray();
    return all.filter(isConsumer);
  };
  const [consumers, all] = await Promise.all([found({ $ne: EVERY_SERVICE }), found({ $eq: EVERY_SERVICE })]);
  return { consumers, hardDeletes: new Map(all.map((one) => [one._id.username, one])) };
}

/**
 * The delivery of a hard delete to each consumer, the least advanced first. A consumer whose first call came after
 * `at`, the time of the erasure, is omitted, because it has never received the record. Without a stamp, the hard delete
 * is `open` for all consumers.
 */
export function deliveriesOf(
  { consumers, hardDeletes }: KindConsumers,
  { stamp, at }: { stamp: Date | null; at: Date },
): Delivery[] {
  const latest = at.getTime() + RECORDED_WITHIN_MS;
  return consumers
    .filter(({ firstCall }) => firstCall.getTime() <= latest)
    .map((consumer) => deliveryOf(consumer, hardDeletes.get(consumer._id.username), stamp))
    .sort((one, other) => rank(one) - rank(other));
}

function deliveryOf(
  consumer: StoredConsumer,
  ofKind: StoredConsumer | undefined,
  stamp: Date | null,
): Delivery {
  const { begun, ended, digested, lastCall, _id } = consumer;
  const { username, service } = _id;
  const deletes = ended?.hasDeletes ? ended : ofKind?.ended;
  const readUpTo = ended && deletes && earlier(ended.to, deletes.to);
  const digestTo = digested?.isListing === false ? digested.to : undefined;
  const state = (): DeliveryState => {
    if (isAfter(digestTo, stamp) && isAfter(ended?.to, stamp)) return 'proven';
    if (!isAfter(readUpTo, stamp)) return 'open';
    return isAfter(begun?.from, stamp) || ended?.from === undefined ? 'returned' : 'delivered';
  };
  return {
    ...{ username, service, state: state(), readUpTo: readUpTo ?? null },
    ...{ askedFrom: begun?.from ?? null, digestTo: digestTo ?? null, lastCall },
  };
}

/** Whether a time is at or after the stamp. */
function isAfter(time: Date | undefined, stamp: Date | null): boolean {
  return stamp !== null && time !== undefined && time >= stamp;
}

function rank({ state }: Delivery): number {
  return DELIVERY_STATES.indexOf(state);
}
