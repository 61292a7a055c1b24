import type { TermAtWork } from './term-life.js';

/** Something that a leader does again and again. */
export interface Job {
  readonly name: string;
  /** Does the next piece of it, and answers how long to wait before the one after it (milliseconds). */
  step(stop: AbortSignal, term: TermAtWork): Promise<number>;
}
