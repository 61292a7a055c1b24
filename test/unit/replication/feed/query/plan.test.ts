import fc from 'fast-check';
import { indexOf, longestList, planOf } from '../../../../../src/replication/feed/query/window.js';
import { matching, tombstones } from '../../../../../src/replication/feed/query/selection.js';

const tenant = { organizationid: 'acme', appid: 'webshop' };
const anyLimit = fc.integer({ min: 1, max: 100_000 });

describe('the plan is decided by the window (design §4)', () => {
  it('not listed, since it has no lower bound or is too large: all, along _id', () => {
    fc.assert(fc.property(anyLimit, (limit) => expect(planOf(undefined, limit)).toBe('all')));
  });

  it('no larger than the page: one page; larger: the list', () => {
    fc.assert(
      fc.property(anyLimit, fc.nat(1_000_000), (limit, listed) => {
        expect(planOf(listed, limit)).toBe(listed <= limit ? 'one-page' : 'id-list');
      }),
    );
  });

  it('of a walk along _id and a list the cheaper one: at most 3 keys for each item of the window', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 10, max: 1_000_000 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (all, share) => {
          const window = Math.max(1, Math.floor(all * share));
          const isListed = window <= longestList(all);
          const keys = isListed ? window + 2 * window : longestList(all) + 1 + all;
          expect(keys).toBeLessThanOrEqual(3 * window);
        },
      ),
    );
  });

  it('a list is never longer than can be kept', () => {
    expect(longestList(1e9)).toBe(1_000_000);
    expect(longestList(0)).toBe(0);
  });
});

describe('the index that a plan states', () => {
  const alongId = [
    ['organizationid', 'appid', '_id'],
    ['organizationid', 'appid', 'kind', '_id'],
  ] as const;
  const alongStamp = [
    ['organizationid', 'appid', 'lastupdated', '_id'],
    ['organizationid', 'appid', 'kind', 'lastupdated', '_id'],
  ] as const;

  it.each([
    ['all' as const, alongId],
    ['id-list' as const, alongId],
    ['one-page' as const, alongStamp],
  ])('%s', (plan, [ofRecords, ofTombstones]) => {
    for (const [selection, keys] of [
      [matching(tenant, 'member'), ofRecords],
      [matching(tenant, 'product', { 'data.kind': 1 }), ofRecords],
      [tombstones(tenant, 'product'), ofTombstones],
    ] as const) {
      const along = indexOf(plan, selection);
      expect(Object.keys(along)).toEqual(keys);
      expect(new Set(Object.values(along))).toEqual(new Set([1]));
    }
  });
});
