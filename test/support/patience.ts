import { setTimeout as wait } from 'node:timers/promises';
import type { Answer } from './answer.js';

const PATIENCE_MS = 40_000;
const AGAIN_MS = 200;

/** Asks again while the answer is 503, as every consumer does: on a busy machine the watcher may be late for a while. */
export async function onceServed(ask: () => Promise<Answer>): Promise<Answer> {
  const end = Date.now() + PATIENCE_MS;
  for (;;) {
    const answer = await ask();
    if (answer.status !== 503 || Date.now() > end) return answer;
    await wait(AGAIN_MS);
  }
}
