import { MaxKey, MinKey } from 'bson';
import { planIn } from '../../../../src/administration/filter-indexes.js';

const scan = (indexName: string, bounds: object) => ({ stage: 'IXSCAN', indexName, indexBounds: bounds });
const tenant = { organizationid: ['["a", "a"]'], appid: ['["b", "b"]'] };
const all = scan('by_id', { ...tenant, _id: ['[MinKey, MaxKey]'] });
const narrow = scan('by_price', { ...tenant, price: ['[-inf.0, 5)'] });
const fetched = (inputStage: object) => ({ queryPlanner: { winningPlan: { stage: 'FETCH', inputStage } } });

describe('Whether an index serves, from what the server explains', () => {
  it.each<[string, object, string[], boolean]>([
    ['an index that is narrowed', fetched(narrow), ['by_price'], false],
    ['one that is read through', fetched(all), ['by_id'], true],
    ['nothing to be found', fetched(scan('by_price', { ...tenant, price: [] })), ['by_price'], false],
    ['nothing to be read', { queryPlanner: { winningPlan: { stage: 'EOF' } } }, [], false],
    ['the whole collection', { queryPlanner: { winningPlan: { stage: 'COLLSCAN' } } }, [], true],
    [
      'one index for each filter of $or',
      fetched({ stage: 'OR', inputStages: [narrow, scan('by_b', { ...tenant, b: ['[1, 1]'] }), narrow] }),
      ['by_price', 'by_b'],
      false,
    ],
    [
      'one of them read through',
      fetched({ stage: 'OR', inputStages: [narrow, all] }),
      ['by_price', 'by_id'],
      true,
    ],
    [
      'a plan that was not chosen',
      { queryPlanner: { winningPlan: narrow, rejectedPlans: [all, { stage: 'COLLSCAN' }] } },
      ['by_price'],
      false,
    ],
    [
      'what newer servers say',
      {
        explainVersion: '2',
        queryPlanner: { winningPlan: { queryPlan: { stage: 'GROUP', inputStage: narrow } } },
      },
      ['by_price'],
      false,
    ],
    ['shards', { shards: { one: fetched(narrow), two: fetched(all) } }, ['by_price', 'by_id'], true],
  ])('%s', (_name, explained, indexes, readsEveryRecord) => {
    expect(planIn(explained)).toEqual({ indexes, readsEveryRecord });
  });

  const counted = (startKey: object, endKey: object) => ({
    stages: [
      {
        $cursor: {
          queryPlanner: {
            winningPlan: { ...narrow, stage: 'COUNT_SCAN', indexBounds: { startKey, endKey } },
          },
        },
      },
    ],
  });

  it('a count along an index is bounded by two keys', () => {
    const [from, to] = [new MinKey(), new MaxKey()];
    const of = { organizationid: 'a', appid: 'b' };
    expect(planIn(counted({ ...of, price: 5 }, { ...of, price: to })).readsEveryRecord).toBe(false);
    expect(planIn(counted({ ...of, price: from }, { ...of, price: from })).readsEveryRecord).toBe(false);
    expect(planIn(counted({ ...of, price: from }, { ...of, price: to })).readsEveryRecord).toBe(true);
  });
});
