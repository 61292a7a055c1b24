import { duration } from '../../platform/common/index.js';

/** The recent speed of some work, in its own unit: records, events, or seconds of the log. */
export interface Pace {
  /** The length of the measured interval. Only the leader measures it: the clocks of two machines are never compared. */
  seconds: number;
  done: number;
  /** The amount of work added in the same interval. */
  added: number;
}

/** Work in progress: the amount done, and the approximate total. */
export interface Work {
  done: number;
  total: number;
  /** Absent until enough of the work has been observed. */
  pace?: Pace;
}

/** Work as it is stored. A field of the wrong type, such as a text in place of a number, counts as absent. */
export type StoredWork = { [Field in keyof Work]?: unknown };

/** A pace measured over a shorter interval is ignored (seconds). */
const SHORTEST_S = 2;
/**
 * The greatest `Retry-After` derived from an estimate (seconds). This project's client does not retry if asked to wait more
 * than a minute.
 */
const LONGEST_RETRY_S = 30;

/** The fraction of the work that is done, 0 to 1. `total` is an estimate, so `done` may exceed it. */
export function shareDone({ done, total }: Pick<Work, 'done' | 'total'>): number {
  return done / Math.max(total, done, 1);
}

/** {@link shareDone} for stored work; undefined if it is unknown. */
export function shareKnown({ done, total }: StoredWork): number | undefined {
  return isAmount(done) && isAmount(total) ? shareDone({ done, total }) : undefined;
}

/**
 * Seconds until all of the work is done, at its pace so far; undefined if unknown, or if the remaining work is not
 * shrinking.
 */
export function secondsLeft(work: StoredWork): number | undefined {
  const { left, pace } = known(work) ?? {};
  return left === undefined || pace === undefined ? undefined : at(left, pace.done - pace.added, pace);
}

/**
 * Seconds until the work that exists now is done, ignoring later additions. This is what a page waits for. Undefined if
 * unknown.
 */
export function secondsToPresent(work: StoredWork): number | undefined {
  const { left, pace } = known(work) ?? {};
  return left === undefined || pace === undefined ? undefined : at(left, pace.done, pace);
}

/**
 * The `Retry-After`, in seconds, for callers that wait for the work that exists now: half of the estimated time. The
 * last request then comes at most a second after the work is done, and few requests come before it. With the full
 * estimate, an estimate that is slightly too long would delay every consumer. The value never exceeds the time over
 * which the work was observed, since an estimate from a short observation may be far off.
 */
export function retryAfter(work: StoredWork): number | undefined {
  const seconds = secondsToPresent(work);
  if (seconds === undefined) return undefined;
  const seen = (work.pace as Pace).seconds;
  return Math.max(1, Math.floor(Math.min(seconds / 2, seen, LONGEST_RETRY_S)));
}

/** Describes the progress of work, such as `45 % done, about 40 s left`; undefined if neither value is known. */
export function restInWords(share: number | undefined, seconds: number | undefined): string | undefined {
  const parts = [
    ...(share === undefined ? [] : [`${Math.floor(share * 100)} % done`]),
    ...(seconds === undefined ? [] : [`about ${roughly(seconds)} left`]),
  ];
  return parts.length === 0 ? undefined : parts.join(', ');
}

/** Rounds to whole minutes from one minute on. An estimate is not more precise than that. */
function roughly(seconds: number): string {
  return duration(seconds < 60 ? seconds : Math.round(seconds / 60) * 60);
}

/** The remaining amount and the pace; undefined if either is unknown. */
function known({ done, total, pace }: StoredWork): { left: number; pace: Pace } | undefined {
  if (!isAmount(done) || !isAmount(total) || done > total || !isPace(pace)) return undefined;
  return { left: total - done, pace };
}

function at(left: number, less: number, { seconds }: Pace): number | undefined {
  if (left === 0) return 0;
  const rest = less > 0 ? Math.ceil((left * seconds) / less) : Infinity;
  return Number.isFinite(rest) ? rest : undefined;
}

function isPace(value: unknown): value is Pace {
  const { seconds, done, added } = (value ?? {}) as { [Field in keyof Pace]?: unknown };
  return isAmount(seconds) && seconds >= SHORTEST_S && isAmount(done) && isAmount(added);
}

function isAmount(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0;
}

/**
 * Half of the longest interval that a pace covers (milliseconds). A pace covers the last 10 to 20 s, so that it follows
 * work that becomes slower or faster.
 */
const HALF_MS = 10_000;

/** The state of some work at one time. */
interface Sample {
  /** By `performance.now()`. */
  at: number;
  /** The amount done so far. */
  done: number;
  /** The amount added so far; 0 if absent. */
  added?: number;
}

/** Measures the pace of work between the current sample and an earlier one, which is usually 10 to 20 s old. */
export class Tempo {
  private first: Sample;
  private next: Sample;

  constructor(begun: Sample) {
    this.first = this.next = begun;
  }

  /** The pace between an earlier sample and this one. */
  measure(now: Sample): Pace {
    if (now.at - this.next.at >= HALF_MS) {
      this.first = this.next;
      this.next = now;
    }
    const { at, done, added = 0 } = this.first;
    return { seconds: (now.at - at) / 1000, done: now.done - done, added: (now.added ?? 0) - added };
  }
}
