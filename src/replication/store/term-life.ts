import { setTimeout as wait } from 'node:timers/promises';
import { ALL, type AppShare } from '../protocol/index.js';
import { DeadlineError } from '../../common/index.js';

/** The term has shown no life for so long (milliseconds) that it is given up. */
export const LONGEST_SILENCE_MS = 20_000;

/** What a record was behind a move, by a name of the event. What is forgotten is read, or makes a pass necessary. */
export interface MovesKnown {
  get(event: string): object | undefined;
  set(event: string, identity: object): unknown;
}

/** The term is over: another instance leads, or this one showed no sign of progress. */
export class TermOverError extends Error {
  constructor(message = 'Another instance leads now') {
    super(message);
    this.name = 'TermOverError';
  }
}

/**
 * A term, as those who work for it know it. Each of them is given it by its caller: with an AsyncLocalStorage they could
 * find it by themselves, but one in use makes every promise of the process dearer, those of each request too.
 */
export interface TermAtWork {
  /**
   * Called after each step of what may take long: that is what the lease is renewed by. Throws TermOverError where the
   * term was given up meanwhile, so that what was left behind ends with its next step.
   */
  showLife(): void;
  /** The applications that it is done for. */
  readonly share: AppShare;
  /** The term that this is a part of, where it is not done for all applications: what a term remembers, it remembers as a whole. */
  readonly whole?: TermAtWork;
  /** What the main loop has learned of moves while applications are aside: their loops may come too late to read it. */
  readonly moves?: MovesKnown;
}

/** For work outside of a term, such as that of a command: it needs no sign of life, and nothing ends it. */
export const NO_TERM: TermAtWork = { showLife: () => undefined, share: ALL };

/** The life of one term: how long ago its work came one step further, and whether it is over. */
export class TermLife implements TermAtWork {
  private readonly over = new AbortController();
  private shownAt = performance.now();

  readonly share = ALL;

  /** Aborted when the term is over. */
  get signal(): AbortSignal {
    return this.over.signal;
  }

  /** Milliseconds since the last step. */
  get silence(): number {
    return performance.now() - this.shownAt;
  }

  showLife(): void {
    if (this.signal.aborted) throw new TermOverError();
    this.shownAt = performance.now();
  }

  end(): void {
    this.over.abort();
  }
}

const LOOK_MS = 1000;

/**
 * Does work beside the stream, which shows a life of its own: it keeps no term alive whose stream hangs, and is left behind where it
 * hangs itself. Throws a DeadlineError where it shows no life for `longestMs` milliseconds. Its life ends with `stop`.
 */
export async function asLongAsAlive<T>(
  stop: AbortSignal,
  longestMs: number,
  work: (life: TermLife) => Promise<T>,
): Promise<T> {
  const life = new TermLife();
  const end = () => life.end();
  if (stop.aborted) end();
  stop.addEventListener('abort', end, { once: true });
  try {
    return await Promise.race([work(life), silence(life, longestMs)]);
  } finally {
    stop.removeEventListener('abort', end);
    end();
  }
}

/** Work whose life has ended ends by itself. */
async function silence(life: TermLife, longestMs: number): Promise<never> {
  while (life.silence <= longestMs) {
    await wait(LOOK_MS, undefined, { signal: life.signal, ref: false }).catch(() => undefined);
    if (life.signal.aborted) return new Promise<never>(() => undefined);
  }
  throw new DeadlineError('What shows no sign of life', longestMs);
}

/** Something that a leader does again and again. */
export interface Job {
  readonly name: string;
  /** Does the next piece of it, and answers how long to wait before the one after it (milliseconds). */
  step(stop: AbortSignal, term: TermAtWork): Promise<number>;
}
