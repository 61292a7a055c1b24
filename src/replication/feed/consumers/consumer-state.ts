import type { StoredConsumer } from './gathered.js';

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
/** A consumer is silent after this multiple of its usual pause, but not before the shortest pause. */
const PAUSES = 5;
const SHORTEST_PAUSE_MS = 15_000;
/** A consumer with more unfinished harvests than this is `never finished`. Fewer may just be long. */
const UNFINISHED_HARVESTS = 2;

/** When the requests of a consumer to continue were refused, and when they were served. */
type Told = Pick<StoredConsumer, 'expired' | 'told' | 'restored'>;

/** Facts besides the consumer itself. Hard deletes are read for all services of a kind. */
export interface Surroundings {
  now: Date;
  /** The greatest stamp of the application and kind; undefined without one. */
  greatest: Date | undefined;
  /** The outcomes of those requests of the same credential that concern all services of the kind. */
  ofKind: Told | undefined;
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
 * Whether a consumer was refused as expired or restored, and has not recovered. It recovers from both by beginning a window
 * without `from`, and from expired hard deletes also by reading hard deletes successfully.
 */
function mustStartOver({ begun, anew }: StoredConsumer, answers: Told = {}): boolean {
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

/** Whether a later window has ended than the one that was begun last. */
function isAhead({ begun, ended }: StoredConsumer): boolean {
  return begun !== undefined && ended !== undefined && ended.to > begun.to;
}

/** The longest normal pause: several times the mean time between two harvests of the consumer. */
function longestPause({ firstCall, lastCall, harvests }: StoredConsumer): number {
  const usual = harvests < 2 ? 0 : (lastCall.getTime() - firstCall.getTime()) / (harvests - 1);
  return Math.max(SHORTEST_PAUSE_MS, PAUSES * usual);
}
