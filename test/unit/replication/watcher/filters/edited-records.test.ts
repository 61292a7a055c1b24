import { mongo, type Connection } from 'mongoose';
import { EditedRecords } from '../../../../../src/replication/watcher/filters/edited-records.js';
import type { FilterVersions, ReadVersion } from '../../../../../src/replication/store/filter-versions.js';
import {
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
