import { setTimeout as wait } from 'node:timers/promises';
import { ALL, type AppShare } from '../protocol/index.js';
import { DeadlineError } from '../../platform/common/index.js';

/** A term that shows no sign of life for this long is abandoned (milliseconds). */
export const LONGEST_SILENCE_MS = 20_000;

/**
 * The identities of records after moves, by a name of the event. If a move is forgotten, its record is read again, or a
 * pass is required.
 */
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
 * A term, as seen by the code that works for it. Callers pass it on explicitly. An AsyncLocalStorage would avoid that, but
 * once in use it makes every promise of the process more expensive, including those of each request.
 */
export interface TermAtWork {
  /**
   * Call this after each step of long work, since the lease is renewed only while steps are reported. Throws TermOverError
   * if the term was abandoned meanwhile, so that its remaining work ends at the next step.
   */
  showLife(): void;
  /** The applications that the work is for. */
  readonly share: AppShare;
  /**
   * The enclosing term, if the work is not for all applications. State that is kept for a term is kept for the enclosing
   * one.
   */
  readonly whole?: TermAtWork;
  /**
   * What the main loop has learned of moves while applications are aside. The lanes may reach a move too late to read
   * its record as of the move.
   */
  readonly moves?: MovesKnown;
}

/** For work outside of a term, such as that of a command. It needs no sign of life and is never ended. */
export const NO_TERM: TermAtWork = { showLife: () => undefined, share: ALL };

/** The liveness of one term: the time since its last step, and whether it is over. */
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
 * Runs work beside the stream, with a liveness of its own. Such work does not keep a term alive whose stream hangs, and
 * is abandoned if it hangs itself. Throws a DeadlineError if it shows no sign of life for `longestMs` milliseconds. Its
 * life also ends when `stop` is aborted.
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

/**
 * Rejects when the work shows no sign of life. Never settles once the life has ended, because the work then ends at its next
 * step.
 */
async function silence(life: TermLife, longestMs: number): Promise<never> {
  while (life.silence <= longestMs) {
    await wait(LOOK_MS, undefined, { signal: life.signal, ref: false }).catch(() => undefined);
    if (life.signal.aborted) return new Promise<never>(() => undefined);
  }
  throw new DeadlineError('A step of the work', longestMs);
}

/** A recurring task of the leader. */
export interface Job {
  readonly name: string;
  /**
   * Does the next piece of work, and returns the pause before the one after it (milliseconds). `withoutPass`
   * contains the applications over which no pass is running.
   */
  step(stop: AbortSignal, term: TermAtWork, withoutPass: AppShare): Promise<number>;
}
