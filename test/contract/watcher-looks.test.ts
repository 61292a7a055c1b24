import { mongo } from 'mongoose';
import { type TestApplication, TestService } from '../support/index.js';
import { commandsDuring } from './profiler.js';

let service: TestService;
let app: TestApplication;
beforeAll(async () => {
  service = await TestService.start();
});
beforeEach(async () => {
  app = await service.application();
});
afterAll(() => service.stop());

const products = () => service.db.collection<mongo.Document>('products');
const STAMPED = [{ $set: { 'data.n': 2, lastupdated: '$$NOW' } }];

/** How many records the watcher reads while it works through some writes, to see what they lack. */
async function looksDuring(work: () => Promise<unknown>): Promise<number> {
  const commands = await commandsDuring(service.db, async () => {
    await work();
    await service.watcher.caughtUp();
  });
  const looks = commands.flatMap(({ ns, command }) => {
    const [match, project] = (command['pipeline'] ?? []) as mongo.Document[];
    const isLook = ns.endsWith('.products') && project?.['$project']?.isStamped !== undefined;
    return isLook ? [(match!['$match'] as { _id: { $in: unknown[] } })._id.$in.length] : [];
  });
  return looks.reduce((sum, count) => sum + count, 0);
}

const record = (n: number, fields: mongo.Document = {}) => ({
  _id: new mongo.ObjectId(),
  ...app.tenant,
  id: `r${n}`,
  type: 'product',
  lastupdated: new Date(),
  data: { n },
  channels: ['web'],
  ...fields,
});

describe('the watcher reads a product again only where its event does not show all that it looks after', () => {
  it('not those that are inserted whole', async () => {
    const many = Array.from({ length: 50 }, (_, n) => record(n));
    expect(await looksDuring(() => products().insertMany(many))).toBe(0);
    expect((await app.feed('product').drain()).length).toBe(50);
  });

  it('not those whose own fields are changed together with the stamp', async () => {
    await products().insertMany(Array.from({ length: 50 }, (_, n) => record(n)));
    await service.watcher.caughtUp();
    const from = await app.max('product');
    expect(await looksDuring(() => products().updateMany(app.tenant, STAMPED))).toBe(0);
    expect((await app.feed('product').drain({ from })).length).toBe(50);
  });

  it.each<[string, mongo.Document]>([
    ['without an id', { id: undefined }],
    ['with a number as id', { id: 7 }],
    ['with an id that is not UTF-8', { id: 'r\uFFFD' }],
    ['without a stamp', { lastupdated: undefined }],
    ['of no application', { appid: 5 }],
    ['with more channels than are learned', { channels: ['x'.repeat(5000)] }],
  ])('those that are inserted %s', async (_name, fields) => {
    expect(await looksDuring(() => products().insertOne(record(1, fields)))).toBeGreaterThan(0);
  });

  it.each<[string, mongo.Document | mongo.Document[]]>([
    ['its id', [{ $set: { id: 'other', lastupdated: '$$NOW' } }]],
    ['a part of its channels', { $push: { channels: 'more' }, $currentDate: { lastupdated: true } }],
    ['its application', { $unset: { appid: '' }, $currentDate: { lastupdated: true } }],
    ['not its stamp', { $inc: { 'data.n': 1 } }],
  ])('one of which is changed: %s', async (_name, update) => {
    const one = record(1);
    await products().insertOne(one);
    await service.watcher.caughtUp();
    expect(await looksDuring(() => products().updateOne({ _id: one._id }, update))).toBeGreaterThan(0);
  });

  it('one that is replaced', async () => {
    const one = record(1);
    await products().insertOne(one);
    await service.watcher.caughtUp();
    const { _id, ...rest } = record(1);
    expect(await looksDuring(() => products().replaceOne({ _id: one._id }, rest))).toBeGreaterThan(0);
  });

  it('one that is inserted whole and loses its id in the same batch gets one', async () => {
    const one = record(1);
    await products().insertOne(one);
    await products().updateOne({ _id: one._id }, { $unset: { id: '' }, $currentDate: { lastupdated: true } });
    await service.watcher.caughtUp();
    const stored = await products().findOne({ _id: one._id });
    expect(stored?.['id']).toMatch(/^[0-9a-f-]{36}$/);
  });
});
