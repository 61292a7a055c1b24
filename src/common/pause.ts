import { setTimeout as wait } from 'node:timers/promises';

/** Waits so many milliseconds, or until `stop` is aborted. It never throws. */
export async function pause(ms: number, stop: AbortSignal): Promise<void> {
  await wait(ms, undefined, { signal: stop }).catch(() => undefined);
}
