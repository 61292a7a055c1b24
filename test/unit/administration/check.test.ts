import { clockFaults, judgeWatcher } from '../../../src/administration/check.js';

describe('clocks: what a round trip takes is no difference', () => {
  it.each([
    ['the same time', { least: -3, most: 4 }],
    ['a slow network', { least: -4000, most: 4000 }],
    ['a second apart, surely not more', { least: 900, most: 1300 }],
  ])('%s is in order', (_what, ahead) => {
    expect(clockFaults(ahead)).toEqual([]);
  });

  it.each([
    [{ least: 90_000, most: 90_400 }, /^This machine's clock is 1 min 30 s ahead of the database's: .+\.$/],
    [{ least: -8_000, most: -5_000 }, /^This machine's clock is 5 s behind the database's: .+\.$/],
  ])('%o is told', (ahead, sentence) => {
    expect(clockFaults(ahead)).toEqual([expect.stringMatching(sentence)]);
  });

  it('a server whose clock was set back', () => {
    const same = { least: 0, most: 1 };
    expect(clockFaults(same, 1)).toEqual([]);
    expect(clockFaults(same, 90)).toEqual([
      expect.stringMatching(/^The database server's clock is 1 min 30 s behind the cluster time: .+\.$/),
    ]);
  });
});

describe('the watcher: a lag is part of the sentence', () => {
  const status = { leader: 'host/1', lagSeconds: 2, pass: undefined, isPreparing: false };

  it.each([
    [{}, 'ok', 'host/1 leads, 2 s behind'],
    [{ lagSeconds: 31 }, 'warning', 'host/1 leads, 31 s behind'],
    [
      { leader: undefined, lagSeconds: 300 },
      'failed',
      'no instance leads, 5 min behind: is the service running?',
    ],
    [{ leader: undefined, lagSeconds: undefined }, 'failed', 'no instance leads: is the service running?'],
  ])('%o', (changed, state, text) => {
    expect(judgeWatcher({ ...status, ...changed })).toEqual({ state, text, details: [] });
  });
});
