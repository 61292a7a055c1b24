import { setTimeout as wait } from 'node:timers/promises';

const LOOK_MS = 50;

/** Waits until a condition holds; throws where it does not within the time (milliseconds). */
export async function until(condition, { within = 60_000, what = 'it' } = {}) {
  const end = Date.now() + within;
  while (!(await condition())) {
    if (Date.now() > end) throw new Error(`${what} is not ready within ${within / 1000} s`);
    await wait(LOOK_MS);
  }
}
