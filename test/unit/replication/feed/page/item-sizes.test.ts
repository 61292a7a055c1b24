import { ItemSizes } from '../../../../../src/replication/feed/page/page-bytes.js';

describe('the size of documents', () => {
  it('is known for each feed by itself', () => {
    const sizes = new ItemSizes();
    sizes.learn('posters', 15_000_000, 1);
    sizes.learn('bikes', 2000, 2);
    expect([sizes.bytesOfOne('bikes'), sizes.ofOneReply('posters')]).toEqual([1000, 1]);
    expect(sizes.bytesOfOne('one that was never read')).toBe(1024);
  });

  it('is whole bytes: room for so many of them holds as many, and a page needs no second reply for one', () => {
    const sizes = new ItemSizes();
    for (let bytes = 1000; bytes < 1_000_000; bytes += 997) {
      sizes.learn('bikes', bytes, 1000);
      const one = sizes.bytesOfOne('bikes');
      expect(Number.isInteger(one)).toBe(true);
      expect(Math.floor((one * 1000) / one)).toBe(1000);
      expect(one).toBeGreaterThanOrEqual(bytes / 1000);
    }
  });
});
