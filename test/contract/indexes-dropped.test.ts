import type { mongo } from 'mongoose';
import { IndexKeeper } from '../../src/platform/database/index.js';
import { eventually, expectProblem, send, type TestApplication, TestService } from '../support/index.js';
import { commandsDuring, nameOf } from './profiler.js';

const BY_ID = 'organizationid_1_appid_1__id_1';
const BY_STAMP = 'organizationid_1_appid_1_lastupdated_1__id_1';
const UNIQUE = 'organizationid_1_appid_1_id_1';

let service: TestService;
let app: TestApplication;

beforeEach(async () => {
  service = await TestService.start();
  app = await service.application();
});
afterEach(() => service.stop());

const products = () => service.db.collection('products');
const ready = () => send(`${service.url}/health/ready`, 'GET', {});
const indexes = (json: unknown) =>
  (json as { details: { indexes: { status: string; missing?: string[] } } }).details.indexes;
const since = async () => {
  const state = await service.db
    .collection<{ _id: string; since: mongo.Timestamp }>('tidemark.leases')
    .findOne();
  return state!.since;
};

it('an index that was dropped, or hidden, while the service runs is made again; readiness tells until then', async () => {
  const { id } = await app.product();
  await service.watcher.caughtUp();
  const before = await since();
  await products().dropIndex(BY_ID);
  await service.db.command({ collMod: 'products', index: { name: BY_STAMP, hidden: true } });
  expectProblem(await app.feed('product').ask(), 503, 'preparing');
  await eventually(async () => (await ready()).status === 503);
  expect(indexes((await ready()).json)).toEqual({
    status: 'down',
    state: 'preparing',
    missing: ['products: organizationid, appid, _id', 'products: organizationid, appid, lastupdated, _id'],
  });
  await service.ready();
  const standing = (await products().indexes()).filter(({ hidden }) => hidden !== true);
  expect(standing.map(({ name }) => name)).toEqual(expect.arrayContaining([BY_ID, BY_STAMP]));
  await eventually(async () => (await since()).compare(before) > 0);
  await service.watcher.caughtUp();
  expect((await app.feed('product').page()).ids).toEqual([id]);
});

it('where documents are in the way they are looked for once, however often the index is tried', async () => {
  const keeper = service.app.get(IndexKeeper);
  await products().dropIndex(UNIQUE);
  await products().insertMany([1, 2].map(() => ({ ...app.tenant, id: 'twice' })));
  let tried = 0;
  const commands = await commandsDuring(service.db, () =>
    eventually(async () => {
      expect(await keeper.keep()).toBe(false);
      tried = await service.db
        .collection('system.profile')
        .countDocuments({ 'command.createIndexes': 'products' });
      return tried >= 3;
    }),
  );
  const searches = commands.filter((command) => nameOf(command) === 'aggregate products');
  expect(searches.filter(({ command }) => JSON.stringify(command).includes('isListed'))).toHaveLength(1);
  await products().deleteOne({ id: 'twice' });
  await eventually(() => keeper.keep());
  expect(await products().indexExists(UNIQUE)).toBe(true);
});

it('all indexes of a collection that was dropped are made again with one command', async () => {
  const commands = await commandsDuring(service.db, async () => {
    await products().drop();
    await eventually(() =>
      products()
        .indexExists([BY_ID, BY_STAMP, UNIQUE])
        .catch(() => false),
    );
  });
  expect(commands.filter((command) => nameOf(command) === 'createIndexes products')).toHaveLength(1);
  await service.ready();
});
