import { setImmediate, setTimeout as wait } from 'node:timers/promises';

/** How long work keeps the thread before it yields (milliseconds). */
const SLICE_MS = 5;

/** Long work in steps. Only the return value matters; the steps yield no values. */
export type Steps<T> = Generator<undefined, T>;

/**
 * Resolves when the last waiting task may continue. The tasks continue one after the other, so that each iteration of
 * the event loop runs one slice, regardless of the number of tasks.
 */
let lastTurn: Promise<void> = Promise.resolve();

/** Lets long work share the thread that answers all requests: it yields every few milliseconds. */
export class TimeSlice {
  private ends = performance.now() + SLICE_MS;

  /** Await this between two steps of the work. */
  async step(): Promise<void> {
    if (performance.now() < this.ends) return;
    lastTurn = lastTurn.then(() => setImmediate());
    await lastTurn;
    this.ends = performance.now() + SLICE_MS;
  }

  async take<T>(steps: Steps<T>): Promise<T> {
    for (;;) {
      const { done, value } = steps.next();
      if (done === true) return value;
      await this.step();
    }
  }
}

/**
 * Works on all of them, at most `most` at a time, and yields every few milliseconds. Those that are added meanwhile are
 * included.
 */
export async function fewAtATime<T>(
  most: number,
  all: Iterable<T>,
  work: (one: T) => Promise<unknown>,
): Promise<void> {
  const left = all[Symbol.iterator]();
  const slice = new TimeSlice();
  const worker = async () => {
    for (let next = left.next(); next.done !== true; next = left.next()) {
      await work(next.value);
      await slice.step();
    }
  };
  await Promise.all(Array.from({ length: most }, worker));
}

/** Runs the work without yielding, for commands and short inputs. */
export function atOnce<T>(steps: Steps<T>): T {
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
}

/** Waits a number of milliseconds, or until `stop` is aborted. It never throws. */
export async function pause(ms: number, stop: AbortSignal): Promise<void> {
  await wait(ms, undefined, { signal: stop }).catch(() => undefined);
}

/** The work did not finish in time. */
export class DeadlineError extends Error {
  constructor(what: string, ms: number) {
    super(`${what} took longer than ${ms} ms`);
    this.name = 'DeadlineError';
  }
}

/**
 * The value of the promise, or a DeadlineError after that many milliseconds. On timeout the work is abandoned, not
 * cancelled.
 */
export async function within<T>(ms: number, what: string, promise: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new DeadlineError(what, ms)), ms);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

/** The outcome of a promise, its value or its error, if it settles within the time (milliseconds); else undefined. */
export async function settledWithin<T extends object | boolean>(
  promise: Promise<T>,
  ms: number,
): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const due = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), ms);
  });
  return Promise.race([promise, due]).finally(() => clearTimeout(timer));
}

/**
 * Runs work with a signal that is aborted after `ms` milliseconds, or earlier by `stop`. `ms` may be negative, as the
 * remainder of an exceeded time limit. `AbortSignal.timeout` is not used, because Node 20 may garbage-collect such a
 * signal if only `AbortSignal.any` refers to it.
 */
export async function forAtMost<T>(
  ms: number,
  stop: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const over = new AbortController();
  const end = () => over.abort();
  if (stop.aborted) end();
  const timer = setTimeout(end, Math.max(0, ms));
  stop.addEventListener('abort', end, { once: true });
  try {
    return await work(over.signal);
  } finally {
    clearTimeout(timer);
    stop.removeEventListener('abort', end);
  }
}
