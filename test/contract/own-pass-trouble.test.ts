import { mongo } from 'mongoose';
import { eventually, type TestApplication, TestService, withoutWatcher } from '../support/index.js';
import { LOST_TOKEN, OwnPasses, passToCome } from './own-pass.js';

let service: TestService;
let own: TestApplication;
let other: TestApplication;
let passes: OwnPasses;
beforeAll(async () => {
  service = await TestService.start();
  passes = new OwnPasses(service);
});
beforeEach(async () => {
  own = await service.application();
  other = await service.application();
  for (const id of ['deleted', 'staying']) await own.put('product', { id });
  await other.put('product', { id: 'staying' });
});
afterEach(() => jest.restoreAllMocks());
afterAll(() => service.stop());

const products = () => service.db.collection<mongo.Document>('products');
/** Something that looks like a place in the log. */
const PLACE = '8200000001000000012B0229296E04';
const LAST_ID = new mongo.ObjectId('ff'.repeat(12));

it('a pass of one application that fails ends no term', async () => {
  await passes.begin(passToCome(), own);
  const { failures } = passes.fail(2);
  const begun = await passes.term();
  await eventually(() => Promise.resolve(failures() > 0));
  const term = await passes.term();
  await other.put('product', { id: 'meanwhile' });
  expect((await other.feed('product').drain({})).map(({ id }) => id)).toContain('meanwhile');
  await passes.together();
  expect(failures()).toBe(2);
  expect([begun, await passes.term()]).toEqual([expect.any(Number), term]);
});

it('one whose place in the log is lost again begins anew, and ends no term', async () => {
  const lost = { at: `${'0'.repeat(16)}~`, token: LOST_TOKEN, step: '' };
  await passes.begin(passToCome({ reached: lost }), own);
  await eventually(async () => (await passes.aside()).every((one) => one.pass?.reached === undefined));
  const term = await passes.term();
  await passes.together();
  expect(await passes.term()).toBe(term);
});

describe('what a foreign program has stored in place of an entry stops no application', () => {
  const token = { _data: PLACE };
  it.each([
    ['a pass that is nothing', { pass: null }],
    ['a place of a pass that is nothing', { pass: { ...passToCome(), reached: null } }],
    [
      'a place behind a text',
      { pass: { ...passToCome(), reached: { at: PLACE, token, step: 'products', behind: 'x' } } },
    ],
    ['knowledge of no place', { pass: { ...passToCome(), reached: { at: 'x', token, step: '' } } }],
    ['an end of a pass that is nothing', { since: null }],
  ])('%s', async (_what, entry) => {
    await withoutWatcher(service, async () => {
      const { token, watched } = (await passes.leases.findOne({}))!;
      await products().deleteOne({ ...own.tenant, id: 'deleted' });
      await passes.store('pass' in entry ? entry : { token, watched, ...entry }, own);
    });
    await passes.together();
    expect((await own.hardDeletes('product').drain({})).map(({ id }) => id)).toEqual(['deleted']);
    expect((await other.feed('product').drain({})).map(({ id }) => id)).toEqual(['staying']);
  });

  it('applications that a pass over everything shall leave out', async () => {
    await withoutWatcher(service, async () => {
      const { token } = (await passes.leases.findOne({}))!;
      await products().deleteOne({ ...own.tenant, id: 'deleted' });
      const reached = { at: PLACE, token, step: 'products', behind: LAST_ID };
      await passes.leases.updateOne({}, { $set: { pass: passToCome({ reached, later: [null] as never }) } });
    });
    await passes.together();
    expect((await own.hardDeletes('product').drain({})).map(({ id }) => id)).toEqual(['deleted']);
  });
});

it('an index that is missing while a pass goes over one application is made again, and others are served meanwhile', async () => {
  await withoutWatcher(service, async () => {
    await passes.store({ pass: passToCome() }, own);
    await products().dropIndex('organizationid_1_appid_1__id_1');
  });
  await eventually(async () => (await passes.aside())[0]?.pass?.reached !== undefined);
  const term = await passes.term();
  await passes.together();
  expect((await own.feed('product').drain({})).length).toBe(2);
  expect(await passes.term()).toBe(term);
});
