import { clockFaults } from '../../../src/administration/check.js';

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
