import mongoose from 'mongoose';
import { Metrics } from '../../../../../src/platform/observability/index.js';
import { FIRST_BREADTH } from '../../../../../src/replication/feed/query/window.js';
import { BatchReader } from '../../../../../src/replication/feed/query/batch-reader.js';
import type { WindowLists } from '../../../../../src/replication/feed/query/window-lists.js';
import { IdList, matching } from '../../../../../src/replication/feed/query/selection.js';
import type { NumericIdTexts, Find, RawFind } from '../../../../../src/replication/feed/query/raw-find.js';
import type { TombstoneFilter } from '../../../../../src/replication/feed/query/tombstone-filter.js';
import { SLOT } from '../stored.js';

const COUNT = 500;
const at = new mongoose.mongo.Timestamp({ t: 1, i: 1 });
const selection = matching({ organizationid: 'acme', appid: 'shop' }, 'product');
const window = { from: new Date(0), to: new Date(1000), limit: 1000 };
const ids = Array.from({ length: COUNT }, (_, index) => index.toString(16).padStart(24, '0'));

/** What a step over a window of 500 records asks the database for. */
async function askedFor(most: number | undefined, idsOnly = false): Promise<Find> {
  let asked: Find | undefined;
  const first = (find: Find) => {
    asked = find;
    return Promise.resolve({ documents: new Uint8Array([5, 0, 0, 0, 0]), cursorId: 0n });
  };
  const lists = { list: () => IdList.sort(Buffer.from(ids.join(''), 'hex')) };
  const living = { withoutLiving: (documents: Uint8Array) => Promise.resolve(documents) };
  const numbers = { asTexts: living.withoutLiving };
  const dependencies = [lists, { first }, living, numbers] as unknown as [
    WindowLists,
    RawFind,
    TombstoneFilter,
    NumericIdTexts,
  ];
  const breadth = { ...FIRST_BREADTH, ...(most !== undefined && { most }) };
  await new BatchReader(...dependencies, new Metrics()).read({
    ...{ selection, window, replyLimit: window.limit, breadth, at, slot: SLOT, idsOnly },
  });
  return asked!;
}

it('a window no larger than the page is read whole', async () => {
  const { along, filter } = await askedFor(undefined);
  expect(along).toHaveProperty('lastupdated');
  expect(filter).not.toHaveProperty('_id.$in');
});

it('after it took too long only as much of it as a step may look at', async () => {
  const { along, filter } = await askedFor(100);
  expect(along).not.toHaveProperty('lastupdated');
  expect(filter['_id'].$in).toHaveLength(100);
});

it('`_id`s alone are never sorted as one page, since whole documents would be', async () => {
  const { along, projection } = await askedFor(undefined, true);
  expect([along, projection]).toEqual([
    { organizationid: 1, appid: 1, _id: 1 },
    { _id: 1, id: { $cond: [{ $isNumber: '$id' }, '$id', '$$REMOVE'] } },
  ]);
});
