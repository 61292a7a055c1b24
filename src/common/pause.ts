import { setTimeout as wait } from 'node:timers/promises';

/** Waits a number of milliseconds, or until `stop` is aborted. It never throws. */
export async function pause(ms: number, stop: AbortSignal): Promise<void> {
  await wait(ms, undefined, { signal: stop }).catch(() => undefined);
}
