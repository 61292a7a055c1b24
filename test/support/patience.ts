import { setTimeout as wait } from 'node:timers/promises';
import type { Answer } from './answer.js';

const PATIENCE_MS = 100_000;
const AGAIN_MS = 200;

/** Asks again while the answer is 503, as every consumer does: on a busy machine the watcher may be late for a while. */
export function onceServed(ask: () => Promise<Answer>): Promise<Answer> {
  return patiently(ask, ({ status }) => status === 503);
}

/** Asks again while somebody is late; answers what came last, also where that is late for good. */
export async function patiently<T>(ask: () => Promise<T>, isLate: (answer: T) => boolean): Promise<T> {
  const end = Date.now() + PATIENCE_MS;
  for (;;) {
    const answer = await ask();
    if (!isLate(answer) || Date.now() > end) return answer;
    await wait(AGAIN_MS);
  }
}
