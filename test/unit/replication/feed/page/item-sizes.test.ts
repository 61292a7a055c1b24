import { ItemSizes } from '../../../../../src/replication/feed/page/item-sizes.js';
import type { Selection } from '../../../../../src/replication/feed/query/index.js';

const selection = { collection: 'products', scope: {} } as Selection;

describe('the size of documents', () => {
  it('is whole bytes: room for so many of them holds as many, and a page needs no second reply for one', () => {
    const sizes = new ItemSizes();
    for (let bytes = 1000; bytes < 1_000_000; bytes += 997) {
      sizes.learn(selection, bytes, 1000);
      const one = sizes.bytesOfOne(selection);
      expect(Number.isInteger(one)).toBe(true);
      expect(Math.floor((one * 1000) / one)).toBe(1000);
      expect(one).toBeGreaterThanOrEqual(bytes / 1000);
    }
  });
});
