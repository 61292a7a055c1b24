import { setTimeout as wait } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { endsAfter } from '../../../../src/platform/common/index.js';

const MANY = 200;
const MS = 200;

/** Collects what nothing refers to strongly. */
async function collectGarbage(): Promise<void> {
  setFlagsFromString('--expose-gc');
  const gc = runInNewContext('gc') as () => void;
  for (let turn = 0; turn < 3; turn += 1) {
    gc();
    await wait(10);
  }
}

it('a wait ends after its time, although garbage was collected meanwhile', async () => {
  const stop = new AbortController();
  let ended = 0;
  const waits = Array.from(
    { length: MANY },
    () =>
      new Promise<void>((resolve) => {
        endsAfter(MS, stop.signal).addEventListener('abort', () => resolve(void (ended += 1)), {
          once: true,
        });
      }),
  );
  await collectGarbage();
  await Promise.race([Promise.all(waits), wait(20 * MS, undefined, { ref: false })]);
  expect(ended).toBe(MANY);
});

it('or before, with the other signal', () => {
  const stop = new AbortController();
  const signal = endsAfter(MS, stop.signal);
  expect(signal.aborted).toBe(false);
  stop.abort();
  expect(signal.aborted).toBe(true);
});

it.each([MS + 0.5, -1])('takes the rest of a time limit: %d ms', async (ms) => {
  const signal = endsAfter(ms, new AbortController().signal);
  if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve));
  expect(signal.aborted).toBe(true);
});
