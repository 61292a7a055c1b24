/** @depends-on-server */
import fc from 'fast-check';
import { mongo } from 'mongoose';
import { eventPipeline, watchedEvent } from '../../src/replication/watcher/index.js';
import { TestService } from '../support/index.js';

let service: TestService;
beforeAll(async () => {
  service = await TestService.shared();
});

const PLACE = `82${'65A1B2C300000001'}2B022C01002B0C6E5A10045A1004`;
const CLUSTER_TIME = new mongo.Timestamp({ t: 7, i: 1 });

const PATHS = [
  ...['data.price', 'data', 'type', 'lastupdated', 'lastupdated.x', 'id', 'id.x', 'appid', 'organizationid'],
  ...['channels', 'channels.1', 'channelsof', 'data.channels', 'announced', 'emailkey.x'],
];
const values = fc.oneof(
  fc.constantFrom<unknown>(
    null,
    5,
    'web',
    ['web', 'shop'],
    {},
    new Date(5),
    new Date(-1e15),
    'x'.repeat(3000),
  ),
  fc.integer(),
);
const updates = fc.record({
  updatedFields: fc.dictionary(fc.constantFrom(...PATHS), values, { maxKeys: 4 }),
  hasStamp: fc.boolean(),
  removedFields: fc.uniqueArray(fc.constantFrom(...PATHS), { maxLength: 2 }),
  truncatedArrays: fc
    .uniqueArray(fc.constantFrom('channels', 'data.rows'), { maxLength: 1 })
    .map((fields) => fields.map((field) => ({ field, newSize: 1 }))),
});
type Update = Omit<mongo.Document, 'updatedFields'> & { updatedFields: Record<string, unknown> };

/** What the watcher reads of events, as the server computes it. */
async function read(events: mongo.Document[]): Promise<unknown[]> {
  const scratch = service.db.collection(`scratch-${new mongo.ObjectId().toHexString()}`);
  await scratch.insertMany(events.map((event, place) => ({ ...event, place })));
  const found = await scratch
    .aggregate([{ $sort: { place: 1 } }, { $unset: '_id' }, eventPipeline([]).at(-1)!])
    .toArray();
  await scratch.drop();
  return found.map((raw) => watchedEvent({ ...raw, _id: { _data: PLACE } }));
}

function eventOf({ hasStamp, ...update }: Update, coll: string, more: object = {}): mongo.Document {
  const updatedFields = { ...update.updatedFields, ...(hasStamp && { lastupdated: new Date(9) }), ...more };
  return {
    ...{ operationType: 'update', clusterTime: CLUSTER_TIME, ns: { coll } },
    ...{ documentKey: { _id: new mongo.ObjectId('65a1b2c3d4e5f60123456789') } },
    updateDescription: { ...update, updatedFields },
  };
}

it('an update of plain fields is read as one that the watcher reads whole', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(updates, { minLength: 50, maxLength: 50 }), async (all) => {
      for (const coll of ['products', 'members']) {
        // A change of `emailkey` beside others is never plain, and changes nothing else that is read.
        const plain = await read(all.map((update) => eventOf(update, coll, { 'data.other': 1 })));
        const whole = await read(
          all.map((update) => eventOf(update, coll, { 'data.other': 1, emailkey: 'a' })),
        );
        expect(plain).toEqual(whole);
      }
    }),
    { numRuns: 20 },
  );
});

it('an update of the stamp alone is marked, and no other one is', async () => {
  const none = { updatedFields: {}, hasStamp: true, removedFields: [], truncatedArrays: [] };
  const other = { ...none, updatedFields: { 'data.n': 1 } };
  const gone = { ...none, removedFields: ['data.n'] };
  const shorter = { ...none, truncatedArrays: [{ field: 'data.rows', newSize: 1 }] };
  const events = await read([none, other, gone, shorter].map((update) => eventOf(update, 'products')));
  expect(events.map((event) => (event as { isStampOnly: boolean }).isStampOnly)).toEqual([
    true,
    false,
    false,
    false,
  ]);
});
