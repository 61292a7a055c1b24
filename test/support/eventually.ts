import { setTimeout as wait } from 'node:timers/promises';

const LOOK_MS = 20;
/** A look may ask the service and its database much, so a long wait looks less often: a tenth of it is lost at most. */
const LONGEST_LOOK_MS = 100;
const LOST = 0.1;

/** Waits until a condition holds; fails when it does not within the time (milliseconds). */
export async function eventually(
  condition: () => Promise<boolean | undefined> | boolean | undefined,
  within = 100_000,
): Promise<void> {
  const begun = Date.now();
  while (!(await condition())) {
    const waited = Date.now() - begun;
    if (waited > within) throw new Error(`Not so within ${within} ms: ${condition.toString()}`);
    await wait(Math.min(LONGEST_LOOK_MS, Math.max(LOOK_MS, waited * LOST)));
  }
}
