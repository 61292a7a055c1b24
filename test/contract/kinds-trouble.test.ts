import type { mongo } from 'mongoose';
import { DeadlineError } from '../../src/platform/common/index.js';
import { Lease } from '../../src/replication/watcher/index.js';
import { eventually, expectProblem, send, type TestApplication, TestService } from '../support/index.js';
import { AdminConsole } from './admin-console.js';
import { EventClient } from './event-client.js';
import { rawDocument } from './raw-document.js';
import { insertRaw } from './raw-insert.js';

let service: TestService;
let last: TestService;
let app: TestApplication;
beforeAll(async () => {
  last = service = await TestService.alone();
  app = await service.application();
  await app.product({ id: 'p1' });
});
afterAll(() => last.stop());

const idsOf = (items: { id: string }[]) => items.map(({ id }) => id).sort();
const record = (id: unknown, fields: mongo.Document = {}) => ({
  ...{ ...app.tenant, id, lastupdated: new Date(), data: {} },
  ...fields,
});
const create = (name: string, collection: string, fields: mongo.Document = {}) =>
  service.db.collection('kinds').insertOne({ name, collection, ...fields });
/** What `kind list` and `GET /admin/v1/kinds` say of a kind. */
async function listed(name: string): Promise<{ state: string; fault?: string }> {
  const kinds = await new AdminConsole(service.uri).json<{ name: string; state: string }[]>('kind list');
  return kinds.find((kind) => kind.name === name)!;
}
const isServed = (kind: string) => eventually(async () => (await app.get(`${kind}/max`)).status === 200);

/** The kind waits, and all else is served as before. */
async function onlyThisWaits(kind: string): Promise<void> {
  await eventually(async () => (await app.get(`${kind}/max`)).status === 503);
  expectProblem(await app.get(`${kind}/max`), 503, 'preparing');
  const before = await app.max('product');
  await app.product({ id: `beside-${kind}` });
  await service.watcher.caughtUp();
  expect(idsOf(await app.feed('product').drain({ from: before }))).toEqual([`beside-${kind}`]);
  expect((await send(`${service.url}/health/ready`, 'GET', {})).status).toBe(200);
}

describe('what is wrong with the collection of a kind concerns only that kind', () => {
  it('a view', async () => {
    await service.db.createCollection('a_view', { viewOn: 'products', pipeline: [] });
    await create('viewed', 'a_view');
    await onlyThisWaits('viewed');
    await eventually(async () => (await listed('viewed')).fault !== undefined);
    expect(await listed('viewed')).toMatchObject({
      state: 'preparing',
      fault:
        'The collection a_view is a view, whose changes MongoDB does not report. ' +
        'Put an ordinary collection with its documents in its place.',
    });
    await service.db.collection('a_view').drop();
    await service.db.collection('a_view').insertOne(record('v1'));
    await isServed('viewed');
    expect(idsOf(await app.feed('viewed').drain())).toEqual(['v1']);
  });

  it('an id that occurs twice, so that its index cannot be made', async () => {
    await service.db.collection('twins').insertMany([record('t1'), record('t1'), record('t2')]);
    await create('twin', 'twins');
    await onlyThisWaits('twin');
    await eventually(async () => (await listed('twin')).fault !== undefined);
    expect(await listed('twin')).toMatchObject({
      state: 'preparing',
      fault:
        'The collection twins has several documents with the same organizationid, appid, id, which must be unique: ' +
        `${app.organizationid}/${app.appid}/t1 (2 times). Remove or rename the surplus ones.`,
    });
    const { output } = await new AdminConsole(service.uri).run('check');
    expect(output).toContain(
      'The pass over the records of the kind twin cannot begin: The collection twins has several documents',
    );
    // What is in the way is looked for again: what was removed is named no more.
    await service.db.collection('twins').insertOne(record('t3'));
    await service.db.collection('twins').insertOne(record('t3'));
    await service.db.collection('twins').deleteOne({ id: 't1' });
    await eventually(async () => (await listed('twin')).fault?.includes('/t3 (2 times)') === true);
    expect((await listed('twin')).fault).not.toContain('/t1');
    await service.db.collection('twins').deleteOne({ id: 't3' });
    await isServed('twin');
    expect(await listed('twin')).not.toHaveProperty('fault');
    expect(idsOf(await app.feed('twin').drain())).toEqual(['t1', 't2', 't3']);
  });

  it('a collection that does not exist yet is one without records', async () => {
    await create('later', 'laters');
    await isServed('later');
    expect(await app.feed('later').drain()).toEqual([]);
    await service.db.collection('laters').insertOne(record('l1'));
    await service.watcher.caughtUp();
    expect(idsOf(await app.feed('later').drain())).toEqual(['l1']);
  });
});

it('the first pass keeps valid stamps, although records were written while it waited for the indexes', async () => {
  const lastupdated = new Date('2020-01-01T00:00:00.000Z');
  const records = service.db.collection('stamped');
  const fields = { lastupdated };
  await records.insertMany([record('s1', fields), record('s1', fields), record('s2', fields)]);
  await create('stamping', 'stamped');
  await eventually(async () => (await app.get('stamping/max')).status === 503);
  await eventually(async () => (await listed('stamping')).fault !== undefined);
  await records.insertOne(record('s3', fields));
  await service.watcher.caughtUp();
  await eventually(
    async () => (await service.db.collection('tidemark.ledger').countDocuments({ kind: 'stamping' })) > 0,
  );
  await records.deleteOne({ id: 's1' });
  await isServed('stamping');
  const { items } = await app.feed('stamping').page();
  expect(items.map((item) => item['lastupdated'])).toEqual(Array(3).fill(lastupdated.toISOString()));
});

it('after a write of the passes over kinds that may come late, none of its term follows', async () => {
  const lease = service.app.get(Lease, { strict: false });
  const save = lease.save.bind(lease);
  const terms: number[] = [];
  const saved = jest.spyOn(lease, 'save').mockImplementation(async (term, advance) => {
    if (advance.kinds === undefined) return save(term, advance);
    terms.push(term);
    if (terms.length === 2) throw new DeadlineError('The answer about the lease', 3000);
    return save(term, advance);
  });
  await service.db.collection('tardy').insertOne(record('l1'));
  await create('late', 'tardy');
  await isServed('late');
  saved.mockRestore();
  expect(terms.filter((term) => term === terms[1])).toHaveLength(2);
  expect(terms.at(-1)).toBeGreaterThan(terms[1]!);
});

it('a document by hand that cannot be read is no kind, and stops nothing', async () => {
  await create('Capital', 'capitals');
  await create('hidden', 'credentials');
  await create('halved', 'halves', { organizationid: 'acme' });
  const note = Buffer.from('\x0bnote\0x\0g\0');
  const noted = rawDocument([['name', 'noted']]).subarray(4, -1);
  const document = Buffer.concat([
    Buffer.of(note.length + noted.length + 5, 0, 0, 0),
    noted,
    note,
    Buffer.of(0),
  ]);
  await insertRaw(service.uri, 'kinds', document);
  await create('after', 'afters');
  await isServed('after');
  expect(await listed('noted')).toMatchObject({ state: 'not valid' });
  for (const name of ['hidden', 'halved']) expectProblem(await app.get(`${name}/max`), 404, 'unknown-kind');
  expectProblem(await app.get('Capital/max'), 404, 'not-found');
});

it.each<[string, (name: string) => Promise<unknown>, string[], string[]]>([
  ['that is dropped', (name) => service.db.collection(name).drop(), [], ['d1', 'd2']],
  [
    'in whose place `$out` puts another',
    async (name) => {
      await service.db.collection(`${name}_source`).insertMany([record('d2'), record('d3')]);
      return service.db
        .collection(`${name}_source`)
        .aggregate([{ $out: name }])
        .toArray();
    },
    ['d2', 'd3'],
    ['d1'],
  ],
  ['that is renamed', (name) => service.db.renameCollection(name, `${name}_old`), [], ['d1', 'd2']],
])('a collection %s concerns its kind alone, which tells what is gone', async (what, replace, ids, gone) => {
  const name = `lost${what.split(' ').at(-1)}`;
  await service.db.collection(name).insertMany([record('d1'), record('d2')]);
  await create(name, name);
  await isServed(name);
  const before = await app.max(name);
  const since = async () =>
    (await service.db.collection('tidemark.leases').findOne({ _id: 'watcher' as never }))?.[
      'since'
    ] as unknown;
  const passed = await since();
  await replace(name);
  await eventually(
    async () => (await app.get(`${name}/max`)).status === 200 && (await app.max(name)) > before,
  );
  expect(idsOf(await app.hardDeletes(name).drain({ from: before }))).toEqual(gone);
  expect(idsOf(await app.feed(name).drain({ from: before }))).toEqual(ids);
  expect(await since()).toEqual(passed);
});

it('the streams of `events` of a kind end when the kind is removed, and no others', async () => {
  await create('passing', 'passings');
  await isServed('passing');
  const client = await EventClient.open(app, 'passing');
  const other = await EventClient.open(app, 'product');
  await Promise.all([client, other].map((one) => eventually(() => one.events.length > 0)));
  await service.db.collection('kinds').deleteOne({ name: 'passing' });
  await eventually(() => client.hasEnded);
  expect(client.retry).toBeGreaterThan(0);
  expectProblem(await app.get('passing/events'), 404, 'unknown-kind');
  expect(other.isStream).toBe(true);
  other.leave();
});

it('an index of another program over the id is no obstacle', async () => {
  await service.db.collection('indexed').createIndex({ sku: 1 }, { unique: true });
  await service.db.collection('indexed').insertOne({ ...app.tenant, sku: 'i1', data: {} });
  await create('indexing', 'indexed', { id: 'sku' });
  await isServed('indexing');
  expect(idsOf(await app.feed('indexing').drain())).toEqual(['i1']);
});

it('a pass that a new leader has to begin again delivers everything once, and deletes that came meanwhile', async () => {
  const records = service.db.collection('handed');
  await records.insertMany(Array.from({ length: 5000 }, (_, n) => record(`h${n}`)));
  await create('handing', 'handed');
  const second = (last = await service.another());
  await eventually(async () => (await app.get('handing/max')).status === 503);
  await service.leave();
  await records.deleteMany({ id: { $in: ['h0', 'h4999'] } });
  const seen = app.seenBy(second);
  await eventually(async () => (await seen.get('handing/max')).status === 200);
  const ids = new Set(idsOf(await seen.feed('handing').drain()));
  expect(ids.size).toBe(4998);
  expect(ids.has('h0')).toBe(false);
});
