import { setTimeout as wait } from 'node:timers/promises';
import { DeadlineError } from '../../common/index.js';
import { TermLife } from '../progress/index.js';

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
