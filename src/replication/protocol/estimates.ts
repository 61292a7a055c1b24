import { duration } from '../../common/index.js';

/** How fast work has gone of late, in its own unit: records, events, or seconds of the log. */
export interface Pace {
  /** Over how long, measured by the leader alone: clocks of two machines are never compared. */
  seconds: number;
  done: number;
  /** What was added to the work in the same time. */
  added: number;
}

/** Work that is under way: how much is done, and about how much there is. */
export interface Work {
  done: number;
  total: number;
  /** Absent while too little was seen of it. */
  pace?: Pace;
}

/** Work as it is stored: what tells nothing, such as a text in place of a number, counts as absent. */
export type StoredWork = { [Field in keyof Work]?: unknown };

/** What was seen for a shorter time tells nothing (seconds). */
const SHORTEST_S = 2;
/** The greatest `Retry-After` that is derived from an estimate (seconds): the client of this project gives up beyond a minute. */
const LONGEST_RETRY_S = 30;

/** How much of the work is done, 0 to 1. Its total is an estimate, which it may exceed. */
export function shareDone({ done, total }: Pick<Work, 'done' | 'total'>): number {
  return done / Math.max(total, done, 1);
}

/** The same of stored work; undefined where it is not known. */
export function shareKnown({ done, total }: StoredWork): number | undefined {
  return isAmount(done) && isAmount(total) ? shareDone({ done, total }) : undefined;
}

/** Seconds until all of the work is done, at its pace so far; undefined where it cannot be told, or there is no less of it than before. */
export function secondsLeft(work: StoredWork): number | undefined {
  const { left, pace } = known(work) ?? {};
  return left === undefined || pace === undefined ? undefined : at(left, pace.done - pace.added, pace);
}

/** Seconds until what there is by now is done, whatever is added: that is what a page waits for. Undefined where it cannot be told. */
export function secondsToPresent(work: StoredWork): number | undefined {
  const { left, pace } = known(work) ?? {};
  return left === undefined || pace === undefined ? undefined : at(left, pace.done, pace);
}

/**
 * The seconds of a `Retry-After` for those who wait for what there is by now: a half of the time that it takes. So the last request comes
 * at most a second late, after few others; the whole of an estimate that is a little too long would delay every consumer. It is no
 * longer than the work was seen either, since an estimate out of a second may be wrong by far.
 */
export function retryAfter(work: StoredWork): number | undefined {
  const seconds = secondsToPresent(work);
  if (seconds === undefined) return undefined;
  const seen = (work.pace as Pace).seconds;
  return Math.max(1, Math.floor(Math.min(seconds / 2, seen, LONGEST_RETRY_S)));
}

/** How far work has come, such as `45 % done, about 40 s left`; undefined where neither is known. */
export function restInWords(share: number | undefined, seconds: number | undefined): string | undefined {
  const told = [
    ...(share === undefined ? [] : [`${Math.floor(share * 100)} % done`]),
    ...(seconds === undefined ? [] : [`about ${roughly(seconds)} left`]),
  ];
  return told.length === 0 ? undefined : told.join(', ');
}

/** From a minute on in whole minutes: an estimate is no better than that. */
function roughly(seconds: number): string {
  return duration(seconds < 60 ? seconds : Math.round(seconds / 60) * 60);
}

/** What is left, and the pace; undefined where one of them is not known. */
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

/** A pace is that of the last 10 to 20 s, so that it follows work that becomes slower or faster (milliseconds). */
const HALF_MS = 10_000;

/** Work at a time. */
interface Look {
  /** Of `performance.now()`. */
  at: number;
  /** How much was done up to then. */
  done: number;
  /** How much was added up to then; without it nothing is. */
  added?: number;
}

/** Measures the pace of work by looks at it, of which it keeps two. */
export class Tempo {
  private first: Look;
  private next: Look;

  constructor(begun: Look) {
    this.first = this.next = begun;
  }

  /** The pace between an earlier look and this one. */
  look(now: Look): Pace {
    if (now.at - this.next.at >= HALF_MS) {
      this.first = this.next;
      this.next = now;
    }
    const { at, done, added = 0 } = this.first;
    return { seconds: (now.at - at) / 1000, done: now.done - done, added: (now.added ?? 0) - added };
  }
}
