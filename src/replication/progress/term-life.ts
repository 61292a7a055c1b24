import { AsyncLocalStorage } from 'node:async_hooks';

/** The term has shown no life for so long (milliseconds) that it is given up. */
export const LONGEST_SILENCE_MS = 20_000;

/** The term is over: another instance leads, or nobody could tell any more that this one still works. */
export class TermOverError extends Error {
  constructor(message = 'Another instance leads now') {
    super(message);
    this.name = 'TermOverError';
  }
}

/** The life of one term: how long ago its work came one step further, and whether it is over. */
export class TermLife {
  private readonly over = new AbortController();
  private shownAt = performance.now();

  /** Aborted when the term is over. */
  get signal(): AbortSignal {
    return this.over.signal;
  }

  /** Milliseconds since the last step. */
  get silence(): number {
    return performance.now() - this.shownAt;
  }

  show(): void {
    this.shownAt = performance.now();
  }

  end(): void {
    this.over.abort();
  }
}

const lives = new AsyncLocalStorage<TermLife>();

/** Does the work of a term: what it calls finds the term's life by itself. */
export function during<T>(life: TermLife, work: () => Promise<T>): Promise<T> {
  return lives.run(life, work);
}

/**
 * Whoever works for a term calls it after each step of what may take long: that is what the lease is renewed by. Throws
 * TermOverError where the term was given up meanwhile, so that what was left behind ends with its next step. Outside of a
 * term it does nothing.
 */
export function showLife(): void {
  const life = lives.getStore();
  if (life?.signal.aborted === true) throw new TermOverError();
  life?.show();
}
