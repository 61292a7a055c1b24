import { mongo, type Connection } from 'mongoose';
import { EditedRecords } from '../../../../../src/replication/watcher/filters/edited-records.js';
import type { FilterVersions, ReadVersion } from '../../../../../src/replication/store/filter-versions.js';
import {
  type Quarantine,
  type WatchedPlace,
  type WorkedThrough,
  TermLife,
} from '../../../../../src/replication/store/index.js';
import type { Restamps } from '../../../../../src/replication/watcher/index.js';

it('to count the records is a sign of life: it takes as long as a stretch, which is looked for and judged behind it', async () => {
  const did: string[] = [];
  const say = <T>(what: string, answer: T) => {
    did.push(what);
    return Promise.resolve(answer);
  };
  const stretches = [[{ count: 1, end: new mongo.ObjectId() }], []];
  const records = new EditedRecords(
    {
      collection: () => ({
        aggregate: () => ({ toArray: () => say('stretch', stretches.shift()) }),
        find: () => ({ toArray: () => say('judged', []) }),
        countDocuments: () => say('counted', 1),
      }),
    } as unknown as Connection,
    {} as Restamps,
    {} as WorkedThrough,
    {} as WatchedPlace,
    { saveProgress: () => say('told', undefined) } as unknown as FilterVersions,
    {} as Quarantine,
  );
  Object.assign(records, { saveMs: 0 });
  const term = new TermLife();
  jest.spyOn(term, 'showLife').mockImplementation(() => void did.push('life'));
  const entry = {
    organizationid: 'acme',
    appid: 'shop',
    kind: 'product',
    name: 'web',
    filter: {},
    previous: {},
  };
  await records.restamp(entry as unknown as ReadVersion, { term, stop: term.signal });
  expect(did).toEqual(['stretch', 'judged', 'life', 'counted', 'life', 'told', 'stretch']);
});

/** How often records were judged, and how many were stamped, where each record takes too long to judge. */
async function tooSlow(count: number): Promise<{ judged: number; stamped: number }> {
  const ids = Array.from({ length: count }, () => new mongo.ObjectId());
  const did = { judged: 0, stamped: 0 };
  let next = 0;
  const judge = (query: { $and?: [unknown, object] }) => {
    if (Object.keys(query.$and?.[1] ?? {}).length === 0) return Promise.resolve([{ _id: ids[next - 1]! }]);
    did.judged += 1;
    return Promise.reject(new mongo.MongoServerError({ message: 'operation exceeded time limit', code: 50 }));
  };
  const range = () => {
    next += 1;
    return Promise.resolve(next > count ? [] : [{ count: 1, end: ids[next - 1]! }]);
  };
  const records = new EditedRecords(
    {
      collection: () => ({
        aggregate: () => ({ toArray: range }),
        find: (query: { $and?: [unknown, object] }) => ({ toArray: () => judge(query) }),
      }),
    } as unknown as Connection,
    {
      records: (_kind: string, some: unknown[]) => {
        did.stamped += some.length;
        return Promise.resolve({ stamped: some.length, setAside: 0 });
      },
    } as unknown as Restamps,
    { now: () => Promise.resolve({ at: new mongo.Timestamp({ t: 7, i: 1 }) }) } as unknown as WorkedThrough,
    {} as WatchedPlace,
    {} as FilterVersions,
    {} as Quarantine,
  );
  const edit = { filter: { 'data.n': 1 }, previous: { 'data.n': 2 } };
  const entry = { organizationid: 'acme', appid: 'shop', kind: 'product', name: 'web', ...edit };
  const term = new TermLife();
  await records.restamp(entry as unknown as ReadVersion, { term, stop: term.signal });
  return did;
}

it('records that each take too long to judge are stamped, and after many of them none is judged any more', async () => {
  expect(await tooSlow(3)).toEqual({ judged: 3, stamped: 3 });
  expect(await tooSlow(50)).toEqual({ judged: 21, stamped: 50 });
});
