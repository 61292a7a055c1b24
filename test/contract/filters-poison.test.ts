import { mongo } from 'mongoose';
import { EditedRecords, FilterChanges, Restamps } from '../../src/replication/watcher/index.js';
import { TermOverError } from '../../src/replication/store/index.js';
import { AdminConsole } from './admin-console.js';
import { rawDocument } from './raw-document.js';
import { insertRaw } from './raw-insert.js';
import { eventually, expectProblem, send, type TestApplication, TestService } from '../support/index.js';

const MEGABYTE = 1_000_000;

let service: TestService;
let app: TestApplication;
beforeAll(async () => {
  service = await TestService.start();
});
beforeEach(async () => {
  app = await service.application();
  for (const n of [1, 2, 3]) await app.put('product', { id: `p${n}`, data: { n } });
});
afterAll(() => service.stop());

const services = () => service.db.collection('services');
const effective = () => service.db.collection('tidemark.filterversions');
const ofBytes = (bytes: number) => ({ 'data.text': { $ne: 'x'.repeat(bytes) } });
const ask = (name: string) => app.feed('product', name).ask();

async function edit(name: string, filter: unknown): Promise<void> {
  await services().updateOne({ ...app.tenant, name }, { $set: { filter } });
  await service.watcher.caughtUp();
}

/** What a consumer gets of what came behind `from`: updates, then soft deletes. */
async function harvest(name: string, from: Date): Promise<[string[], string[]]> {
  const to = await app.max('product');
  const [updates, gone] = [app.feed('product', name), app.softDeletes('product', name)];
  const ids = (items: { id: string }[]) => items.map(({ id }) => id);
  return [ids(await updates.drain({ from, to })), ids(await gone.drain({ from, to }))];
}

/** The others go on, and are edited as ever. */
async function expectOthersServed(): Promise<void> {
  await app.filter('product', 'healthy', { 'data.n': 1 });
  expect((await app.feed('product', 'healthy').page()).ids).toEqual(['p1']);
  await edit('healthy', { 'data.n': 2 });
  expect((await app.feed('product', 'healthy').page()).ids).toEqual(['p2']);
}

describe('a filter with a value that drivers refuse', () => {
  const documentWith = (element: Buffer) =>
    Buffer.concat([Buffer.of(element.length + 5, 0, 0, 0), element, Buffer.of(0)]);
  /** A regular expression with an option that only some drivers write. */
  const odd = documentWith(Buffer.from('\x0bdata.n\0x\0g\0'));
  /** Code whose scope has one. */
  const scope = Buffer.concat([Buffer.from('\x01\0\0\0\0'), odd]);
  const scoped = documentWith(
    Buffer.concat([Buffer.from('\x0fdata.n\0'), Buffer.of(scope.length + 4, 0, 0, 0), scope]),
  );

  const insert = (name: string, filter = odd) => {
    const fields = { _id: new mongo.ObjectId(), ...app.tenant, kind: 'product', name, filter };
    return insertRaw(service.uri, 'services', rawDocument(Object.entries(fields)));
  };

  it('makes its service invalid, and no other', async () => {
    await insert('odd');
    await app.filter('product', 'few', { 'data.n': 1 });
    await services().deleteOne({ ...app.tenant, name: 'few' });
    await insert('few');
    await insert('scoped', scoped);
    await service.watcher.caughtUp();
    for (const name of ['odd', 'few', 'scoped']) expectProblem(await ask(name), 500, 'service-misconfigured');
    await expectOthersServed();
    await edit('few', { 'data.n': 3 });
    expect((await app.feed('product', 'few').page()).ids).toEqual(['p3']);
  });

  it('appears in lists and in the status, and can be replaced', async () => {
    await insert('odd');
    await insert('scoped', scoped);
    await app.filter('product', 'few', { 'data.n': 1 });
    const root = await app.credential({ level: 'admin' });
    const path = `admin/v1/applications/${app.organizationid}/${app.appid}/services`;
    const on = (method: string, name: string, body?: object) =>
      send(`${service.url}/${path}${name}`, method, { user: root, ...(body && { body }) });
    const stored = { 'data.n': { $regularExpression: { pattern: 'x', options: 'g' } } };
    const { result } = (await on('GET', '')).json as { result: { name: string; filter: unknown }[] };
    expect(result.map(({ name }) => name)).toEqual(['few', 'odd', 'scoped']);
    expect((await on('GET', '/product/odd')).json).toMatchObject({ filter: stored });
    const { output } = await new AdminConsole(service.uri).run('status');
    expect(output).toContain('services');
    expect((await on('PUT', '/product/odd', { filter: { 'data.n': 2 } })).status).toBe(200);
    await service.watcher.caughtUp();
    expect((await app.feed('product', 'odd').page()).ids).toEqual(['p2']);
  });

  it.each([
    ['a regular expression', odd],
    ['code', scoped],
  ])('is changed only as it was read, and removed: %s', async (_what, filter) => {
    await insert('odd', filter);
    const user = await app.credential({ level: 'admin' });
    const path = `admin/v1/applications/${app.organizationid}/${app.appid}/services/product/odd`;
    const on = (method: string, headers: Record<string, string> = {}, body?: object) =>
      send(`${service.url}/${path}`, method, { user, headers, ...(body && { body }) });
    const ifMatch = async () => ({ 'if-match': (await on('GET')).headers.get('etag') ?? '' });
    const [before, body] = [await ifMatch(), { filter: { 'data.n': 2 } }];
    await services().updateOne({ ...app.tenant, name: 'odd' }, { $set: { description: 'one' } });
    expectProblem(await on('PUT', before, body), 412, 'precondition-failed');
    expect((await on('PUT', await ifMatch(), body)).status).toBe(200);
    await services().deleteOne({ ...app.tenant, name: 'odd' });
    await insert('odd', filter);
    expect((await on('DELETE')).status).toBe(204);
    expect(await services().countDocuments({ ...app.tenant, name: 'odd' })).toBe(0);
  });
});

describe('a filter of 64 KiB or more makes its service invalid, and no other', () => {
  it.each([0.07, 5, 15])('%d MB, edited to another of that size', async (megabytes) => {
    await app.filter('product', 'huge', ofBytes(megabytes * MEGABYTE));
    expectProblem(await ask('huge'), 500, 'service-misconfigured');
    await edit('huge', ofBytes(megabytes * MEGABYTE + 1));
    expectProblem(await ask('huge'), 500, 'service-misconfigured');
    await expectOthersServed();
  });

  it('one that was valid keeps its last filter meanwhile', async () => {
    await app.filter('product', 'few', { 'data.n': 1 });
    const from = await app.max('product');
    await edit('few', ofBytes(5 * MEGABYTE));
    expectProblem(await ask('few'), 500, 'service-misconfigured');
    await edit('few', { 'data.n': 3 });
    expect(await harvest('few', from)).toEqual([['p3'], ['p1']]);
  });
});

describe('a filter in force that is too large to be read, as one that an earlier version let pass', () => {
  const inForce = (fields: mongo.Document) =>
    effective().insertOne({ ...app.tenant, kind: 'product', name: 'old', version: 3, ...fields });

  it('is invalid, never unfiltered; repaired with another, everything is delivered anew', async () => {
    const filter = ofBytes(5 * MEGABYTE);
    await inForce({ state: 'on', pending: false, filter });
    expectProblem(await ask('old'), 500, 'service-misconfigured');
    await services().insertOne({ ...app.tenant, kind: 'product', name: 'old', filter });
    await service.watcher.caughtUp();
    expectProblem(await ask('old'), 500, 'service-misconfigured');
    await expectOthersServed();
    const from = await app.max('product');
    await edit('old', { 'data.n': { $lte: 1 } });
    expect(await harvest('old', from)).toEqual([['p1'], ['p2', 'p3']]);
  });

  it('also where the filter before it is, and the stamping is still to be done', async () => {
    const from = await app.max('product');
    const filter = { 'data.n': 3 };
    await inForce({ state: 'on', pending: true, filter, previous: ofBytes(5 * MEGABYTE) });
    await app.filter('product', 'old', filter);
    expect(await harvest('old', from)).toEqual([['p3'], ['p1', 'p2']]);
    await expectOthersServed();
  });
});

it('records that cannot be stamped make the service invalid until they can, and nothing is missed', async () => {
  await app.filter('product', 'stuck', { 'data.n': 1 });
  const from = await app.max('product');
  const failing = jest.spyOn(service.app.get(Restamps, { strict: false }), 'records');
  failing.mockImplementation(() => Promise.reject(new Error('Something about these records')));
  await edit('stuck', { 'data.n': 2 });
  expectProblem(await ask('stuck'), 500, 'service-misconfigured');
  await edit('stuck', { 'data.n': 3 });
  expectProblem(await ask('stuck'), 500, 'service-misconfigured');
  await app.filter('product', 'fresh', { 'data.n': 1 });
  expect((await app.feed('product', 'fresh').page()).ids).toEqual(['p1']);
  failing.mockRestore();
  await expectOthersServed();
  expect(await harvest('stuck', from)).toEqual([['p3'], ['p1', 'p2']]);
});

it('a term that ends while records are stamped anew makes no service invalid', async () => {
  await app.filter('product', 'cut-off', { 'data.n': 1 });
  const restamps = service.app.get(Restamps, { strict: false });
  jest.spyOn(restamps, 'records').mockImplementationOnce(() => Promise.reject(new TermOverError()));
  const from = await app.max('product');
  await edit('cut-off', { 'data.n': 2 });
  expect((await ask('cut-off')).status).toBe(200);
  expect(await harvest('cut-off', from)).toEqual([['p2'], ['p1']]);
});

it.each<[string, number]>([
  ['a right that is missing', 13],
  ['a disk that is full', 14031],
])(
  '%s says nothing about a filter: the watcher tries again, and no service is invalid',
  async (_name, code) => {
    await app.filter('product', 'hindered', { 'data.n': 1 });
    const restamps = service.app.get(Restamps, { strict: false });
    const refusal = new mongo.MongoServerError({ message: 'Not now', code });
    const failing = jest.spyOn(restamps, 'records').mockImplementationOnce(() => Promise.reject(refusal));
    const from = await app.max('product');
    await edit('hindered', { 'data.n': 2 });
    expect(failing.mock.calls.length).toBeGreaterThan(1);
    expect((await ask('hindered')).status).toBe(200);
    expect(await harvest('hindered', from)).toEqual([['p2'], ['p1']]);
    failing.mockRestore();
  },
);

it.each<[string, () => Promise<unknown>]>([
  ['removed', () => services().deleteOne({ ...app.tenant, name: 'gone' })],
  ['renamed', () => services().updateOne({ ...app.tenant, name: 'gone' }, { $set: { name: 'another' } })],
])(
  'a service that is %s is not served under its name, where the look at it has failed once',
  async (_how, change) => {
    await app.filter('product', 'gone', { 'data.n': 1 });
    const versions = service.app.get(FilterChanges, { strict: false })['entries'];
    const refusal = new mongo.MongoServerError({ message: 'Not now', code: 13 });
    const failing = jest.spyOn(versions, 'of').mockImplementationOnce(() => Promise.reject(refusal));
    await change();
    await service.watcher.caughtUp();
    expect(failing.mock.calls.length).toBeGreaterThan(1);
    failing.mockRestore();
    await eventually(async () => (await ask('gone')).status === 404, 10_000);
  },
);

describe('an application and services by hand that are not what they should be are not served', () => {
  it.each(['max', 'harddeletes', 'a b', '$where', 'x'.repeat(65), ''])('the name %j', async (name) => {
    await app.filter('product', name, { 'data.n': 1 });
    expect(await effective().countDocuments({ ...app.tenant, name })).toBe(0);
  });

  it('the filter of "default", which filters nothing', async () => {
    await app.filter('product', 'default', { 'data.n': 1 });
    expect(await effective().findOne({ ...app.tenant, name: 'default' })).toMatchObject({ filter: {} });
    expect((await app.feed('product').drain()).length).toBe(3);
  });

  it('a name that was served before it was reserved', async () => {
    const own = { ...app.tenant, kind: 'product', name: 'max', filter: {} };
    await effective().insertOne({ ...own, state: 'on', pending: false, version: 1 });
    expectProblem(await ask('max'), 404, 'unknown-service');
  });

  it.each<[string, mongo.Document]>([
    ['a list of names', { name: ['x', 'y'] }],
    ['a list of kinds', { kind: ['product'], name: 'x' }],
    ['a name of 5 MB', { name: 'x'.repeat(5 * MEGABYTE) }],
    ['an application of another type', { organizationid: 5, name: 'x' }],
  ])('%s', async (_name, fields) => {
    await services().insertOne({ ...app.tenant, kind: 'product', filter: {}, ...fields });
    await service.watcher.caughtUp();
    expectProblem(await ask('x'), 404, 'unknown-service');
  });

  it.each(['false', 'true', 0, 1, '', [], {}])('enabled: %j is off', async (enabled) => {
    await app.filter('product', 'x', {}, { enabled });
    expectProblem(await ask('x'), 404, 'unknown-service');
  });

  it.each([true, null])('enabled: %j is on', async (enabled) => {
    await app.filter('product', 'x', {}, { enabled });
    expect((await ask('x')).status).toBe(200);
  });
});

it('a filter on a field that the service keeps for itself is invalid', async () => {
  await app.filter('member', 'keyed', { $or: [{ emailkey: 'ann@example.com' }, { 'data.n': 1 }] });
  expectProblem(await app.feed('member', 'keyed').ask(), 500, 'service-misconfigured');
  await app.filter('member', 'of-the-data', { 'data.emailkey': 'x' });
  expect((await app.feed('member', 'of-the-data').ask()).status).toBe(200);
});

/** It takes MongoDB longer than the product waits for it, and is not cut off. The product's own wait is for `test:long`. */
describe('a filter that MongoDB cannot end on one long text', () => {
  const isLong = process.env['TIDEMARK_TEST_LIMITS'] === 'real';

  it('holds nobody else up for good', async () => {
    if (!isLong) Object.assign(service.app.get(EditedRecords, { strict: false }), { judgingMs: 500 });
    const text = 'a'.repeat(isLong ? 300_000 : 170_000);
    await app.put('product', { id: 'long', data: { n: 9, text } });
    await app.filter('product', 'slow', { 'data.n': 1 });
    const before = await effective().findOne({ ...app.tenant, name: 'slow' });
    const filter = { 'data.text': { $regex: 'a*[!?]{2,9}' } };
    await services().updateOne({ ...app.tenant, name: 'slow' }, { $set: { filter } });
    const after = {
      ...app.tenant,
      name: 'slow',
      version: { $gt: before!['version'] as number },
      pending: false,
    };
    await eventually(async () => (await effective().findOne(after)) !== null);
    await expectOthersServed();
  }, 240_000);
});
