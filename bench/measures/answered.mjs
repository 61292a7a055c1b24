import { setTimeout as wait } from 'node:timers/promises';

const LATER = 503;
const AGAIN_MS = 100;

/** Asks until it is answered, since 503 means "later"; the body. Throws where the answer is another one than 200. */
export async function answered(ask) {
  for (;;) {
    const { status, body } = await ask();
    if (status === 200) return body;
    if (status !== LATER) throw new Error(`answered ${status}: ${body.toString('utf8', 0, 200)}`);
    await wait(AGAIN_MS);
  }
}
