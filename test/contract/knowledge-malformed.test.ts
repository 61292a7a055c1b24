import mongoose from 'mongoose';
import {
  controlStreams,
  eventually,
  type TestApplication,
  TestService,
  withoutWatcher,
} from '../support/index.js';
import { KnownAndRead } from './known-and-read.js';

const { mongo } = mongoose;
const MEGABYTES = 9 << 20;

let service: TestService;
let app: TestApplication;
let ways: KnownAndRead;
beforeAll(async () => {
  service = await TestService.start({ MARK_WAIT: '50' });
  app = await service.application();
  await app.product({ data: { n: 1 } });
  await app.filter('product', 'few', { 'data.n': 1 });
  await service.knows(app);
  await app.product({ lastupdated: new Date() });
  await service.watcher.caughtUp();
  ways = new KnownAndRead(service);
});
afterAll(() => service.stop());

const WRONG: unknown[] = [null, 5, 'soon', [], {}, { _bsontype: 'ObjectId' }];
const MISSING = Symbol('missing');

const collection = (name: string) => service.db.collection(name);
const own = (name: string): mongoose.mongo.Document => {
  if (name === 'credentials') return { username: app.user('read') };
  if (name === 'tidemark.leases') return { _id: 'watcher' };
  return name === 'tidemark.heads' ? { '_id.appid': app.appid } : app.tenant;
};

/** A stage, since it can store what the driver would not send. */
const withField = (field: string, value: unknown) =>
  value === MISSING ? [{ $unset: field }] : [{ $set: { [field]: literal(value) } }];
function literal(value: unknown): unknown {
  const isPlain = typeof value === 'object' && value !== null && Object.hasOwn(value, '_bsontype');
  return isPlain ? { $arrayToObject: [[['_bsontype', 'ObjectId']]] } : { $literal: value };
}

/** Stores each wrong value in place of a field of a document that is known, and looks at both answers. */
async function assertSameWithout(name: string, field: string): Promise<void> {
  const to = (await app.max('product')).toISOString();
  const requests = () => [
    app.get('product/max'),
    app.feed('product').ask({ to }),
    app.feed('product', 'few').ask({ to }),
  ];
  const { known: before } = await ways.served(requests);
  expect(before).toMatchObject([{ status: 200 }, { status: 200 }, { status: 200 }]);
  const stored = await collection(name).findOne(own(name));
  for (const value of [MISSING, ...WRONG]) {
    await collection(name).updateOne({ _id: stored!._id }, withField(field, value));
    await service.heard();
    const { known, read } = await ways.ask(requests);
    await collection(name).replaceOne({ _id: stored!._id }, stored!);
    await service.heard();
    expect({ value, answers: known }).toEqual({ value, answers: read });
  }
  expect((await ways.served(requests)).known).toEqual(before);
}

describe('a document that has something else in place of a field is as good as read each time', () => {
  it.each([
    ...['organizationid', 'appid', 'settings', 'title'].map((field) => ['applications', field]),
    ...['username', 'passwordhash', 'level'].map((field) => ['credentials', field]),
    ...['scopes', 'disabled', 'expiresAt'].map((field) => ['credentials', field]),
    ['tidemark.heads', 'stamp'],
  ])('%s: %s', assertSameWithout);

  /** What the watcher writes: it would put something right beside what is wrong here. */
  it.each([
    ...['watched', 'since', 'pass'].map((field) => ['tidemark.leases', field]),
    ...['organizationid', 'appid', 'kind', 'name'].map((field) => ['tidemark.filterversions', field]),
    ...['state', 'version', 'filter', 'pending'].map((field) => ['tidemark.filterversions', field]),
  ])('%s: %s', (name, field) => withoutWatcher(service, () => assertSameWithout(name, field)));

  it.each(['organizationid', 'appid', 'kind', 'fence', 'at'])('tidemark.moments: %s', async (field) => {
    const to = (await app.max('product')).toISOString();
    const moments = collection('tidemark.moments');
    const { _id, ...moment } = (await moments.findOne(app.tenant, { sort: { _id: -1 } }))!;
    expect(_id).toBeDefined();
    const requests = () => [app.get('product/max'), app.feed('product').ask({ to })];
    for (const value of [null, 5, 'soon', true, ['x'], {}]) {
      await moments.insertOne({ ...moment, [field]: value, _id: new mongo.ObjectId() });
      await service.heard();
      const { known, read } = await ways.ask(requests);
      expect({ value, answers: known }).toEqual({ value, answers: read });
    }
  });
});

describe('a credential is refused once it is disabled, whatever its _id', () => {
  const ids: [string, () => unknown][] = [
    ['a number', () => 1],
    ['a 64-bit number', () => mongo.Long.fromString('9007199254740993')],
    ['a decimal', () => mongo.Decimal128.fromString('1.50')],
    ['a text', () => 'x'],
    ['a text of more than is told', () => 'x'.repeat(2000)],
    ['a date', () => new Date(5)],
    ['bytes', () => new mongo.UUID()],
    ['a document', () => ({ b: 1, a: { c: [2] } })],
    ['a document that looks like another type', () => ({ _bsontype: 'ObjectId' })],
  ];

  it.each(ids)('%s', async (_what, idOf) => {
    const user = await app.credential();
    await collection('credentials')
      .aggregate([{ $match: { username: user } }, { $out: 'aside' }])
      .toArray();
    await collection('credentials').deleteOne({ username: user });
    const moved = [{ $set: { _id: literal(idOf()) } }, { $merge: 'credentials' }];
    await collection('aside').aggregate(moved).toArray();
    const status = async () => (await app.get('product/max', { user })).status;
    for (let turn = 0; turn < 2; turn += 1) expect(await status()).toBe(200);
    await collection('credentials').updateOne({ username: user }, { $set: { disabled: true } });
    await service.heard();
    expect(await status()).toBe(401);
  });
});

it('what is stored in place of a value is not told where it is large: a reply holds all that there is', async () => {
  let pipeline: object[] = [];
  await eventually(async () => {
    const [open] = await controlStreams(service.db);
    pipeline = (open?.originatingCommand['pipeline'] ?? []) as object[];
    return pipeline.length > 0;
  });
  const stream = service.db.watch<mongoose.mongo.Document, mongoose.mongo.ChangeStreamDocument>(
    [...pipeline.slice(1), { $match: { 'ns.coll': 'tidemark.moments' } }],
    { startAtOperationTime: (await service.db.command({ ping: 1 }))['operationTime'] },
  );
  const moments = collection('tidemark.moments');
  const { insertedId } = await moments.insertOne({ ...app.tenant, kind: 'x'.repeat(MEGABYTES) });
  await moments.deleteOne({ _id: insertedId });
  const event = await stream.next();
  expect(event.operationType).toBe('insert');
  expect(mongo.BSON.calculateObjectSize(event)).toBeLessThan(1000);
  await stream.close();
});
