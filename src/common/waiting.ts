import { setTimeout as wait } from 'node:timers/promises';

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

/** The value of a promise if it settles within the time (milliseconds), else undefined. */
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
 * Aborted after a number of milliseconds, or before with `stop`. `AbortSignal.any` refers weakly to the timeout: Node 20 may collect
 * one that has no listener of its own, and then nothing ends the wait.
 */
export function endsAfter(ms: number, stop: AbortSignal): AbortSignal {
  const late = AbortSignal.timeout(ms);
  late.addEventListener('abort', () => undefined, { once: true });
  return AbortSignal.any([stop, late]);
}
