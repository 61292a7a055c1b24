import type { mongo } from 'mongoose';
import { Restamps } from '../../src/replication/watcher/index.js';
import { eventually, type TestApplication, TestService } from '../support/index.js';

let service: TestService;
let app: TestApplication;
beforeAll(async () => {
  service = await TestService.start({ MARK_WAIT: '1500' });
});
beforeEach(async () => {
  app = await service.application();
  for (const n of [1, 2, 3]) await app.put('product', { id: `p${n}`, data: { n } });
  await app.filter('product', 'few', { 'data.n': { $lte: 1 } });
});
afterEach(() => jest.restoreAllMocks());
afterAll(() => service.stop());

const own = () => ({ ...app.tenant, name: 'few' });
const entries = () => service.db.collection<mongo.Document>('tidemark.filterversions');
const edit = (filter: mongo.Document) =>
  service.db.collection('services').updateOne(own(), { $set: { filter } });
const hasVersion = (version: number, pending: boolean) =>
  eventually(async () => (await entries().findOne({ ...own(), version, pending })) !== null);

/** Keeps back the first stamps for an edited filter; answers when they are asked for, and how to release them. */
function heldFirst() {
  const restamps = service.app.get(Restamps, { strict: false });
  const records = restamps.records.bind(restamps);
  let tell!: () => void;
  let release!: () => void;
  const begun = new Promise<void>((resolve) => (tell = resolve));
  const released = new Promise<void>((resolve) => (release = resolve));
  jest.spyOn(restamps, 'records').mockImplementationOnce(async (...asked) => {
    tell();
    await released;
    return records(...asked);
  });
  return { begun, release };
}

it('a stamping that outlives its entry ends no stamping of the one made anew, whose versions begin again', async () => {
  const { begun, release } = heldFirst();
  await edit({ 'data.n': 3 });
  await begun;
  await hasVersion(2, true);
  await entries().drop();
  await hasVersion(1, false);
  await app.service.watcher.caughtUp();
  const from = await app.max('product');
  await edit({ 'data.n': 2 });
  await hasVersion(2, true);
  release();
  await hasVersion(2, false);
  await service.watcher.caughtUp();
  const window = { from, to: await app.max('product') };
  expect((await app.feed('product', 'few').drain(window)).map(({ id }) => id)).toEqual(['p2']);
  const left = (await app.softDeletes('product', 'few').drain(window)).map(({ id }) => id);
  expect(left).toContain('p3');
});
