import { mongo } from 'mongoose';
import { LedgerSlices } from '../../src/replication/ledger/index.js';
import type { PassProgress, WatchState } from '../../src/replication/progress/index.js';
import { eventually, type TestApplication, TestService, withoutWatcher } from '../support/index.js';

let service: TestService;
let own: TestApplication;
let other: TestApplication;
beforeAll(async () => {
  service = await TestService.start();
});
beforeEach(async () => {
  own = await service.application();
  other = await service.application();
  for (const id of ['deleted', 'staying']) await own.put('product', { id });
  await other.put('product', { id: 'staying' });
});
afterEach(() => jest.restoreAllMocks());
afterAll(() => service.stop());

const leases = () => service.db.collection<WatchState>('tidemark.leases');
const products = () => service.db.collection<mongo.Document>('products');
const aside = async () => (await leases().findOne({}))?.aside ?? [];
const termNow = async () => (await leases().findOne({}))?.term;
/** Before everything that the log holds. */
const LOST = '8200000001000000012B0229296E04';
/** The token of an event that no log holds. */
const NEVER = `8200000001000000012B022C0100296E5A1004${'11'.repeat(16)}46645F69640064${'22'.repeat(12)}0004`;
const LAST_ID = new mongo.ObjectId('ff'.repeat(12));
const pass = (): PassProgress => ({
  ...{ reason: 'test', isRepair: true, started: new Date(), done: 0, total: 0 },
});
const store = (entry: object) => leases().updateOne({}, { $set: { aside: [{ ...own.tenant, ...entry }] } });

async function together(): Promise<void> {
  await service.watcher.caughtUp();
  await eventually(async () => (await aside()).length === 0);
  await service.watcher.caughtUp();
}

/** Makes the pass over one application fail where it begins with the ledger, a number of times. */
function failing(times: number, error: () => Error): { failures: () => number } {
  const slices = service.app.get(LedgerSlices, { strict: false });
  const next = slices.nextOfTenant.bind(slices);
  let failures = 0;
  jest.spyOn(slices, 'nextOfTenant').mockImplementation((...asked) => {
    if (failures >= times) return next(...asked);
    failures += 1;
    return Promise.reject(error());
  });
  return { failures: () => failures };
}

it('a pass of one application that fails ends no term', async () => {
  await withoutWatcher(service, () => store({ pass: pass() }).then(() => undefined));
  const { failures } = failing(2, () => new Error('no'));
  const begun = await termNow();
  await eventually(() => Promise.resolve(failures() > 0));
  const term = await termNow();
  await other.put('product', { id: 'meanwhile' });
  expect((await other.feed('product').drain({})).map(({ id }) => id)).toContain('meanwhile');
  await together();
  expect(failures()).toBe(2);
  expect([begun, await termNow()]).toEqual([expect.any(Number), term]);
});

it('one whose place in the log is lost again begins anew, and ends no term', async () => {
  const lost = { at: `${'0'.repeat(16)}~`, token: { _data: NEVER }, step: '' };
  await withoutWatcher(service, () => store({ pass: { ...pass(), reached: lost } }).then(() => undefined));
  await eventually(async () => (await aside()).every((one) => one.pass?.reached === undefined));
  const term = await termNow();
  await together();
  expect(await termNow()).toBe(term);
});

describe('what a foreign program has stored in place of an entry stops no application', () => {
  const token = { _data: LOST };
  it.each([
    ['a pass that is nothing', { pass: null }],
    ['a place of a pass that is nothing', { pass: { ...pass(), reached: null } }],
    [
      'a place behind a text',
      { pass: { ...pass(), reached: { at: LOST, token, step: 'products', behind: 'x' } } },
    ],
    ['knowledge of no place', { pass: { ...pass(), reached: { at: 'x', token, step: '' } } }],
    ['an end of a pass that is nothing', { since: null }],
  ])('%s', async (_what, entry) => {
    await withoutWatcher(service, async () => {
      const { token, watched } = (await leases().findOne({}))!;
      await products().deleteOne({ ...own.tenant, id: 'deleted' });
      await store('pass' in entry ? entry : { token, watched, ...entry });
    });
    await together();
    expect((await own.hardDeletes('product').drain({})).map(({ id }) => id)).toEqual(['deleted']);
    expect((await other.feed('product').drain({})).map(({ id }) => id)).toEqual(['staying']);
  });

  it('applications that a pass over everything shall leave out', async () => {
    await withoutWatcher(service, async () => {
      const { token } = (await leases().findOne({}))!;
      await products().deleteOne({ ...own.tenant, id: 'deleted' });
      const reached = { at: LOST, token, step: 'products', behind: LAST_ID };
      await leases().updateOne({}, { $set: { pass: { ...pass(), reached, later: [null] as never } } });
    });
    await together();
    expect((await own.hardDeletes('product').drain({})).map(({ id }) => id)).toEqual(['deleted']);
  });
});

it('an index that is missing while a pass goes over one application is made again, and others are served meanwhile', async () => {
  await withoutWatcher(service, async () => {
    await store({ pass: pass() });
    await products().dropIndex('organizationid_1_appid_1__id_1');
  });
  await eventually(async () => (await aside())[0]?.pass?.reached !== undefined);
  const term = await termNow();
  await together();
  expect((await own.feed('product').drain({})).length).toBe(2);
  expect(await termNow()).toBe(term);
});
