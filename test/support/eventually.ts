import { setTimeout as wait } from 'node:timers/promises';

const LOOK_MS = 20;

/** Waits until a condition holds; fails when it does not within the time (milliseconds). */
export async function eventually(
  condition: () => Promise<boolean | undefined> | boolean | undefined,
  within = 100_000,
): Promise<void> {
  const end = Date.now() + within;
  while (!(await condition())) {
    if (Date.now() > end) throw new Error(`Not so within ${within} ms: ${condition.toString()}`);
    await wait(LOOK_MS);
  }
}
