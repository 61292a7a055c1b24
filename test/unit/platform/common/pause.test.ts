import { pause } from '../../../../src/platform/common/index.js';

const LONG_MS = 2 ** 31 - 1;

describe('a pause', () => {
  it('ends by itself', async () => {
    await expect(pause(1, new AbortController().signal)).resolves.toBeUndefined();
  });

  it('ends with its signal, without an error', async () => {
    const stop = new AbortController();
    const paused = pause(LONG_MS, stop.signal);
    stop.abort();
    await expect(paused).resolves.toBeUndefined();
  });

  it('does not begin where the signal came before', async () => {
    await expect(pause(LONG_MS, AbortSignal.abort())).resolves.toBeUndefined();
  });
});
