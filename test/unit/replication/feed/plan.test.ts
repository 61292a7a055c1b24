import fc from 'fast-check';
import { entriesToCount, hintOf, planOf } from '../../../../src/replication/feed/plan.js';
import { matching, tombstones } from '../../../../src/replication/feed/selection.js';

const to = new Date(1000);
const from = new Date(0);
const tenant = { organizationid: 'acme', appid: 'webshop' };

describe('the plan is decided by the window', () => {
  it('without from: along _id, and nothing is counted', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 100_000 }), (limit) => {
        expect(entriesToCount({ to, limit })).toBe(0);
        expect(planOf({ to, limit }, 0)).toBe('along-id');
      }),
    );
  });

  it('with from: a window of up to ten pages is sorted, a larger one is read along _id', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 100_000 }), (limit) => {
        expect(planOf({ from, to, limit }, 0)).toBe('along-lastupdated');
        expect(planOf({ from, to, limit }, 10 * limit)).toBe('along-lastupdated');
        expect(planOf({ from, to, limit }, 10 * limit + 1)).toBe('along-id');
      }),
    );
  });

  it('no more is counted than the choice needs', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 100_000 }), fc.nat(), (limit, held) => {
        const window = { from, to, limit };
        const counted = Math.min(held, entriesToCount(window));
        expect(planOf(window, counted)).toBe(planOf(window, held));
        expect(entriesToCount(window)).toBe(10 * limit + 1);
      }),
    );
  });
});

describe('the index that a plan states', () => {
  it.each([
    ['along-id' as const, ['organizationid', 'appid', '_id'], ['organizationid', 'appid', 'kind', '_id']],
    [
      'along-lastupdated' as const,
      ['organizationid', 'appid', 'lastupdated', '_id'],
      ['organizationid', 'appid', 'kind', 'lastupdated', '_id'],
    ],
  ])('%s', (plan, ofRecords, ofTombstones) => {
    for (const [selection, keys] of [
      [matching(tenant, 'member'), ofRecords],
      [matching(tenant, 'product', { 'data.kind': 1 }), ofRecords],
      [tombstones(tenant, 'product'), ofTombstones],
    ] as const) {
      const hint = hintOf(plan, selection);
      expect(Object.keys(hint)).toEqual(keys);
      expect(new Set(Object.values(hint))).toEqual(new Set([1]));
    }
  });
});
