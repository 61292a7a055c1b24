import { once } from 'node:events';
import { forAtMost } from '../../../../src/platform/common/index.js';

const MS = 20;

const ended = async (signal: AbortSignal) => {
  if (!signal.aborted) await once(signal, 'abort');
  return signal;
};

it('the signal of the work is aborted after the time', async () => {
  const { signal } = new AbortController();
  expect((await forAtMost(MS, signal, ended)).aborted).toBe(true);
});

it('or before, with the other signal', async () => {
  const stop = new AbortController();
  const work = forAtMost(2 ** 31 - 1, stop.signal, ended);
  stop.abort();
  expect((await work).aborted).toBe(true);
  expect((await forAtMost(2 ** 31 - 1, stop.signal, ended)).aborted).toBe(true);
});

it.each([MS + 0.5, -1])('takes the rest of a time limit: %d ms', async (ms) => {
  const { signal } = new AbortController();
  expect((await forAtMost(ms, signal, ended)).aborted).toBe(true);
});

it('the timer ends with the work, whether it succeeds or fails', async () => {
  const stop = new AbortController();
  const left: AbortSignal[] = [];
  const succeeding = (signal: AbortSignal) => Promise.resolve(left.push(signal));
  const failing = (signal: AbortSignal) => succeeding(signal).then(() => Promise.reject(new Error('broken')));
  await forAtMost(MS, stop.signal, succeeding);
  await forAtMost(MS, stop.signal, failing).catch(() => undefined);
  // A later timer of the same time would fire after theirs.
  await forAtMost(MS, stop.signal, ended);
  stop.abort();
  expect(left.map(({ aborted }) => aborted)).toEqual([false, false]);
});
