import mongoose from 'mongoose';
import { Metrics } from '../../../../src/common/index.js';
import { FIRST_BREADTH } from '../../../../src/replication/feed/breadth.js';
import { IdList } from '../../../../src/replication/feed/id-list.js';
import type { Living } from '../../../../src/replication/feed/living.js';
import type { Numbers } from '../../../../src/replication/feed/numbers.js';
import type { Find, RawFind } from '../../../../src/replication/feed/raw-find.js';
import { matching } from '../../../../src/replication/feed/selection.js';
import { Steps } from '../../../../src/replication/feed/steps.js';
import type { WindowLists } from '../../../../src/replication/feed/window-lists.js';

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
  const lists = { of: () => IdList.of(Buffer.from(ids.join(''), 'hex')) };
  const living = { without: (documents: Uint8Array) => Promise.resolve(documents) };
  const numbers = { asTexts: living.without };
  const dependencies = [lists, { first }, living, numbers] as unknown as [
    WindowLists,
    RawFind,
    Living,
    Numbers,
  ];
  const breadth = { ...FIRST_BREADTH, ...(most !== undefined && { most }) };
  await new Steps(...dependencies, new Metrics()).take({ selection, window, breadth, at, idsOnly });
  return asked!;
}

it('a window no larger than the page is read whole', async () => {
  const { hint, filter } = await askedFor(undefined);
  expect(hint).toHaveProperty('lastupdated');
  expect(filter).not.toHaveProperty('_id.$in');
});

it('after it took too long only as much of it as a step may look at', async () => {
  const { hint, filter } = await askedFor(100);
  expect(hint).not.toHaveProperty('lastupdated');
  expect(filter['_id'].$in).toHaveLength(100);
});

it('`_id`s alone are never sorted as one page, since whole documents would be', async () => {
  const { hint, projection } = await askedFor(undefined, true);
  expect([hint, projection]).toEqual([
    { organizationid: 1, appid: 1, _id: 1 },
    { _id: 1, id: { $cond: [{ $isNumber: '$id' }, '$id', '$$REMOVE'] } },
  ]);
});
