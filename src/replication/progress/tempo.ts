import type { Pace } from './rest.js';

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
