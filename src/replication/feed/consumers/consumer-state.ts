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
 * How a consumer does: it has read to the end of what there is (`current`); it reads and is not there yet (`behind`); it
 * does not call any more though there is something to read (`stalled`); it begins the same window again and again
 * (`looping`); none of its windows was ever read to its end (`never finished`); hard deletes that it needs are not kept any
 * more, or it was told of something that a restored database does not have (`must start over`).
 */
export type ConsumerState = (typeof CONSUMER_STATES)[number];

/** So often in a row the same window may be begun: after errors it is right to begin it again. */
const LOOP = 5;
/** A consumer is silent after this multiple of its usual pause, and at least this time. */
const PAUSES = 5;
const SHORTEST_PAUSE_MS = 15_000;
/** One harvest in a row that never ends may be a long one. */
const UNFINISHED_HARVESTS = 2;

/** What became of the places from which a consumer wanted to go on. */
type Told = Pick<StoredConsumer, 'expired' | 'told' | 'restored'>;

/** What is known beside the consumer itself: hard deletes are read for all services of a kind. */
export interface Surroundings {
  now: Date;
  /** The greatest stamp of the application and kind; undefined without one. */
  greatest: Date | undefined;
  /** What the same credential did that is about all services of the kind. */
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

/** How far a consumer is behind, in milliseconds of stamps; nothing where it has not read to any end. */
export function behindMs({ ended }: StoredConsumer, greatest: Date | undefined): number | undefined {
  if (ended === undefined) return undefined;
  return Math.max(0, (greatest?.getTime() ?? 0) - ended.to.getTime());
}

/** It was told so, and has not begun without `from` since, or been told of hard deletes where these were missing. */
function mustStartOver({ begun, anew }: StoredConsumer, answers: Told = {}): boolean {
  const { expired, told, restored } = answers;
  if (restored !== undefined && (anew === undefined || anew < restored)) return true;
  if (expired === undefined || (told !== undefined && told > expired)) return false;
  return begun?.from !== undefined || begun === undefined || begun.at < expired;
}

/** From X to X there is nothing, and it may be asked for as often as somebody likes. */
function isNotEmpty({ from, to }: NonNullable<StoredConsumer['begun']>): boolean {
  return from === undefined || from < to;
}

/**
 * Its last window began beyond its end, and beyond every change that there is. `max` never falls so far, unless the database is
 * restored: what the consumer was told of is gone.
 */
function isBeyondAll(begun: StoredConsumer['begun'], greatest: Date | undefined): boolean {
  if (begun?.from === undefined || greatest === undefined) return false;
  return begun.from > begun.to && begun.from > greatest;
}

/** A later window has ended than the one that was begun last. */
function isAhead({ begun, ended }: StoredConsumer): boolean {
  return begun !== undefined && ended !== undefined && ended.to > begun.to;
}

/** By what is usual for it: the time between two harvests, several times over. */
function longestPause({ firstCall, lastCall, harvests }: StoredConsumer): number {
  const usual = harvests < 2 ? 0 : (lastCall.getTime() - firstCall.getTime()) / (harvests - 1);
  return Math.max(SHORTEST_PAUSE_MS, PAUSES * usual);
}
