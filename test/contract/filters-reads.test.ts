import type { mongo } from 'mongoose';
import { ServiceChecks } from '../../src/replication/watcher/index.js';
import {
  eventually,
  expectProblem,
  type TestApplication,
  TestService,
  withoutWatcher,
} from '../support/index.js';
import { commandsDuring, nameOf } from './profiler.js';

const MANY = 400;

let service: TestService;
let app: TestApplication;

beforeAll(async () => {
  service = await TestService.start();
  app = await service.application();
});
afterAll(() => service.stop());

const services = () => service.db.collection('services');
const entries = () => service.db.collection('tidemark.filterversions');
const many = (of: TestApplication, count: number) =>
  Array.from({ length: count }, (_, index) => ({
    ...of.tenant,
    ...{ kind: 'product', name: `s${index}`, filter: { 'data.n': index } },
  }));
const term = async () => (await service.db.collection('tidemark.leases').findOne({}))!['term'] as number;

describe('A change of one service', () => {
  beforeAll(async () => {
    await services().insertMany(many(app, MANY));
    await service.watcher.caughtUp();
    await eventually(async () => (await entries().countDocuments(app.tenant)) === MANY);
  });

  it.each<[string, () => Promise<unknown>]>([
    [
      'a description',
      () => services().updateOne({ ...app.tenant, name: 's7' }, { $set: { description: 'Seven' } }),
    ],
    [
      'a filter',
      () => services().updateOne({ ...app.tenant, name: 's8' }, { $set: { filter: { 'data.n': 88 } } }),
    ],
    ['its name', () => services().updateOne({ ...app.tenant, name: 's9' }, { $set: { name: 'nine' } })],
    ['its end', () => services().deleteOne({ ...app.tenant, name: 's10' })],
  ])('reads that service, and not the others: %s', async (_name, change) => {
    const commands = await commandsDuring(service.db, async () => {
      await change();
      await service.watcher.caughtUp();
    });
    const reads = commands.filter((one) => /^(find|getmore) services$/i.test(nameOf(one)));
    const examined = reads.reduce((sum, { docsExamined = 0 }) => sum + docsExamined, 0);
    expect(reads.length).toBeGreaterThan(0);
    expect(examined).toBeLessThan(10);
  });

  it('ten edits of a description one after the other read ten services, and the entry of each', async () => {
    const commands = await commandsDuring(service.db, async () => {
      for (let edit = 20; edit < 30; edit += 1) {
        await services().updateOne({ ...app.tenant, name: `s${edit}` }, { $set: { description: 'Edited' } });
        await service.watcher.caughtUp();
      }
    });
    const examined = (collection: string, isCounted: (filter: mongo.Document) => boolean) => {
      const isRead = (name: string) => new RegExp(`^(find|getmore) ${collection}$`, 'i').test(name);
      return commands
        .filter((one) => isRead(nameOf(one)) && isCounted((one.command['filter'] ?? {}) as mongo.Document))
        .reduce((sum, { docsExamined = 0 }) => sum + docsExamined, 0);
    };
    expect(examined('services', () => true)).toBe(20);
    expect(examined('tidemark.filterversions', ({ $or }) => $or !== undefined)).toBe(10);
  });

  it('takes effect: one that was renamed is served under its new name only, one that was removed not at all', async () => {
    expect((await app.feed('product', 'nine').ask()).status).toBe(200);
    for (const name of ['s9', 's10'])
      expectProblem(await app.feed('product', name).ask(), 404, 'unknown-service');
    const { insertedId } = await services().insertOne({
      ...app.tenant,
      kind: 'product',
      name: 's9',
      filter: {},
    });
    await service.watcher.caughtUp();
    expect((await app.feed('product', 's9').ask()).status).toBe(200);
    await services().deleteOne({ _id: insertedId });
    await service.watcher.caughtUp();
    expectProblem(await app.feed('product', 's9').ask(), 404, 'unknown-service');
  });

  it('with an `_id` of another type takes effect as well', async () => {
    const named = services() as unknown as {
      insertOne: (one: object) => Promise<unknown>;
      deleteOne: (one: object) => Promise<unknown>;
    };
    await named.insertOne({ _id: 'by hand', ...app.tenant, kind: 'product', name: 'hand', filter: {} });
    await eventually(async () => (await app.feed('product', 'hand').ask()).status === 200);
    await named.deleteOne({ _id: 'by hand' });
    await eventually(async () => (await app.feed('product', 'hand').ask()).status === 404);
  });
});

describe('Many services that are inserted at once', () => {
  it('come into force within one term of the leader, as does the one of another application meanwhile', async () => {
    const [crowded, other] = [await service.application(), await service.application()];
    const before = await term();
    await services().insertMany(many(crowded, 1500));
    await services().insertOne({ ...other.tenant, kind: 'product', name: 'one', filter: {} });
    await service.watcher.caughtUp();
    expect((await other.feed('product', 'one').ask()).status).toBe(200);
    await eventually(async () => (await entries().countDocuments(crowded.tenant)) === 1500);
    expect(await term()).toBe(before);
  });

  it('come into force by a few commands, but for one that MongoDB refuses, which is invalid alone', async () => {
    const crowded = await service.application();
    const refused = { ...crowded.tenant, kind: 'product', name: 'refused', filter: { id: { $regex: '(' } } };
    const commands = await commandsDuring(service.db, async () => {
      await services().insertMany([...many(crowded, 1000).slice(1), refused]);
      await eventually(async () => (await entries().countDocuments(crowded.tenant)) === 1000);
    });
    const writes = commands.filter((one) => nameOf(one) === 'insert tidemark.filterversions');
    expect(writes.length).toBeLessThan(200);
    expectProblem(await crowded.feed('product', 'refused').ask(), 500, 'service-misconfigured');
    expect(await entries().countDocuments({ ...crowded.tenant, state: 'on' })).toBe(999);
  });

  it('and whose filters are edited at once deliver what each of them judges differently', async () => {
    const edited = await service.application();
    await services().insertMany(many(edited, 30));
    await edited.put('product', { id: 'p7', data: { n: 7 } });
    await eventually(async () => (await entries().countDocuments(edited.tenant)) === 30);
    await service.watcher.caughtUp();
    const from = await edited.max('product');
    await services().updateMany(edited.tenant, { $set: { filter: { 'data.n': 7 } } });
    const stamped = { ...edited.tenant, pending: false, version: 2 };
    await eventually(async () => (await entries().countDocuments(stamped)) === 29);
    await service.watcher.caughtUp();
    expect((await edited.feed('product', 's3').page({ from })).ids).toEqual(['p7']);
    expect((await entries().findOne({ ...edited.tenant, name: 's7' }))!['version']).toBe(1);
  });

  it.each<[string, (insert: () => Promise<unknown>) => Promise<unknown>]>([
    ['while a term lasts', (insert) => insert()],
    ['as a term begins', (insert) => withoutWatcher(service, async () => void (await insert()))],
  ])('hold up no change of another application, %s: they wait beside the stream', async (_when, during) => {
    const [crowded, other] = [await service.application(), await service.application()];
    const from = await other.max('product');
    const looks = service.app.get(ServiceChecks, { strict: false });
    const step = looks.step.bind(looks);
    let release!: () => void;
    const released = new Promise<void>((resolve) => (release = resolve));
    const held = jest.spyOn(looks, 'step').mockImplementation(async (...asked) => {
      await released;
      return step(...asked);
    });
    await during(() => services().insertMany(many(crowded, 1500)));
    await other.put('product', { id: 'fresh' });
    await services().insertOne({ ...other.tenant, kind: 'product', name: 'one', filter: {} });
    await service.watcher.caughtUp();
    expect((await other.feed('product').page({ from })).ids).toEqual(['fresh']);
    expect((await other.feed('product', 'one').ask()).status).toBe(200);
    expect(await entries().countDocuments(crowded.tenant)).toBeLessThan(400);
    held.mockRestore();
    release();
    await eventually(async () => (await entries().countDocuments(crowded.tenant)) === 1500);
  });
});
