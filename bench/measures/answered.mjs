import { performance } from 'node:perf_hooks';
import { setTimeout as wait } from 'node:timers/promises';

const LATER = 503;
const AGAIN_MS = 100;

const LONGEST_MS = 120_000;

/** Asks until it is answered, since 503 means "later"; the body. Throws on another answer than 200, or 503 for two minutes. */
export async function answered(ask) {
  const end = performance.now() + LONGEST_MS;
  for (;;) {
    const { status, body } = await ask();
    if (status === 200) return body;
    if (status !== LATER || performance.now() > end)
      throw new Error(`answered ${status}: ${body.toString('utf8', 0, 200)}`);
    await wait(AGAIN_MS);
  }
}
