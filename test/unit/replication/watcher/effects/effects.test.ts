import { mongo } from 'mongoose';
import { kindsIn, replaceKinds } from '../../../../../src/kinds/index.js';
import { placeAfter, type WatchedEvent } from '../../../../../src/replication/protocol/index.js';
import { NO_TERM } from '../../../../../src/replication/store/index.js';
import { Effects } from '../../../../../src/replication/watcher/effects/effects.js';

const PLACE = placeAfter(new mongo.Timestamp({ t: 7, i: 1 }));
const EDITED = new mongo.ObjectId();

beforeEach(() => replaceKinds(kindsIn([{ _id: new mongo.ObjectId(), name: 'order', collection: 'orders' }])));
afterEach(() => replaceKinds(new Map()));

/** Effects of a batch without records, and the checks of services that they cause. */
function effects() {
  const checked: unknown[] = [];
  const parts = {
    reader: { tombstonesIn: () => Promise.resolve(new Map()) },
    filters: { check: (ids: unknown) => Promise.resolve(checked.push(ids)) },
    metrics: { watcherEvents: { inc: () => undefined } },
  };
  const made = Object.assign(Object.create(Effects.prototype) as object, parts) as unknown as Effects;
  const apply = (collection: string) => {
    const events = [
      { type: 'services', id: EDITED, place: PLACE },
      { type: 'collectionLost', collection, what: 'drop', place: PLACE },
    ] as unknown as WatchedEvent[];
    return made.apply(events, new Map(), NO_TERM, new Map());
  };
  return { apply, checked };
}

it('an edit of a service takes effect although the collection of a created kind is lost in the same batch', async () => {
  const { apply, checked } = effects();
  await apply('orders');
  expect(checked).toEqual([[EDITED]]);
});

it('an edit is left to the pass over everything that follows the loss of another collection', async () => {
  const { apply, checked } = effects();
  await apply('products');
  expect(checked).toEqual([]);
});
