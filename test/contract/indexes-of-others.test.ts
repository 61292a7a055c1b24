import type { mongo } from 'mongoose';
import { IndexKeeper } from '../../src/platform/database/index.js';
import { ConsumerNotes } from '../../src/replication/feed/index.js';
import type { AuditProgress } from '../../src/replication/watcher/index.js';
import {
  eventually,
  expectProblem,
  QUICK_AUDIT,
  send,
  type TestApplication,
  TestService,
} from '../support/index.js';
import { AdminConsole } from './admin-console.js';

const BY_ID = 'organizationid_1_appid_1__id_1';
const BY_STAMP = 'organizationid_1_appid_1_lastupdated_1__id_1';
const ID_KEYS = { organizationid: 1, appid: 1, _id: 1 } as const;
const STAMP_KEYS = { organizationid: 1, appid: 1, lastupdated: 1, _id: 1 } as const;
const DAY_MS = 86_400_000;

let service: TestService;
let app: TestApplication;
let admin: AdminConsole;

beforeEach(async () => {
  service = await TestService.start();
  app = await service.application();
  admin = new AdminConsole(service.uri);
});
afterEach(() => service.stop());

const products = () => service.db.collection('products');
const readiness = () => send(`${service.url}/health/ready`, 'GET', {});
const idsOf = (items: { id: string }[]) => items.map(({ id }) => id).sort();
const words = (command: string, more = '') =>
  `${command} --org ${app.organizationid} --app ${app.appid} --kind product ${more}`;

/** Makes a second index over the keys of every index that the service has, in every one of its collections. */
async function makeTwins(
  options: (own: mongo.IndexDescriptionInfo) => mongo.CreateIndexesOptions,
): Promise<number> {
  let made = 0;
  for (const { name: collection } of await service.db.listCollections().toArray())
    for (const own of await service.db.collection(collection).indexes()) {
      if (own.name === '_id_') continue;
      const twin = { ...options(own), name: `theirs ${made}` };
      await service.db.collection(collection).createIndex(own.key, twin);
      made += 1;
    }
  return made;
}

/** Everything that reads along an index: each answer is what it is without the indexes of others. */
async function expectAllServed(): Promise<void> {
  const [kept, gone] = [
    await app.product({ id: 'kept', channels: ['web'] }),
    await app.product({ id: 'gone' }),
  ];
  await app.product({ id: 7, data: { color: 'red' } });
  await app.member({ id: 'anna', data: { accountnumber: '1', email: 'anna@example.com' } });
  await app.filter('product', 'red', { 'data.color': 'red' });
  await app.remove('product', gone);
  const statuses = await Promise.all(
    [
      'product/max',
      'member/max',
      'product/default/digest',
      'product/default/changes',
      'productbychannel/web/updates',
    ].map(async (path) => (await app.get(path, { query: { to: '9999-01-01' } })).status),
  );
  expect(statuses).toEqual([200, 200, 200, 200, 200]);
  expectProblem(await app.channel('none').ask(), 404, 'unknown-channel');
  expect(idsOf(await app.feed('product').drain({ limit: 1 }))).toEqual(['7', 'kept']);
  expect((await app.hardDeletes('product').page()).ids).toEqual(['gone']);
  expect((await app.softDeletes('product', 'red').page()).ids).toEqual(['kept']);
  expect((await app.feed('member').page()).ids).toEqual(['anna']);
  const before = await app.max('product');
  expect(await admin.json(words('resync'))).toEqual({ records: 2, tombstones: 1 });
  const line = JSON.stringify({ id: 'kept', channels: ['web'], data: { n: 1 } });
  expect(await admin.json(words('import', '- --dry-run'), { input: line })).toMatchObject({ changed: 1 });
  expect(await admin.json(words('import', '-'), { input: line })).toMatchObject({ changed: 1 });
  await service.watcher.caughtUp();
  expect(idsOf(await app.feed('product').drain({ from: before }))).toEqual(['7', 'kept']);
  expect(await admin.json(words('service preview', '--name red'))).toMatchObject({ matching: { count: 1 } });
  await service.app.get(ConsumerNotes, { strict: false }).flush();
  expect(await admin.json<unknown[]>('consumer list')).not.toEqual([]);
  expect((await products().findOne({ _id: kept._id }))?.['data']).toEqual({ n: 1 });
}

async function auditedOnceMore(): Promise<void> {
  await service.leave();
  service = await service.another(QUICK_AUDIT);
  app = app.seenBy(service);
  const round = async () => {
    await service.watcher.caughtUp();
    return (await service.db.collection<AuditProgress>('tidemark.audits').findOne())?.round ?? 1;
  };
  const begun = await round();
  await eventually(async () => (await round()) > begun);
}

describe('a second index over the keys of one of the service, made by another program, concerns nobody', () => {
  it.each<[string, (own: mongo.IndexDescriptionInfo) => mongo.CreateIndexesOptions]>([
    ['sparse', () => ({ sparse: true })],
    ['partial', () => ({ partialFilterExpression: { 'data.theirs': true } })],
    ['with a collation', () => ({ collation: { locale: 'en', strength: 2 } })],
    ['sparse and hidden', () => ({ sparse: true, hidden: true })],
  ])('%s', async (_name, options) => {
    expect(await makeTwins(options)).toBeGreaterThan(20);
    await expectAllServed();
    expect((await readiness()).status).toBe(200);
    const { indexesOfOthers } = await admin.json<{ indexesOfOthers: string[] }>('status');
    expect(indexesOfOthers).toContain('products: theirs ' + (await numberOf('products', ID_KEYS)));
  });

  it('that was there before a pass, the audit and the removal of old hard deletes', async () => {
    await app.product({ id: 'before' });
    await makeTwins(() => ({ sparse: true }));
    await service.leave();
    service = await service.another({ TOMBSTONE_RETENTION_DAYS: '30' });
    app = app.seenBy(service);
    await service.db.collection('tidemark.ledger').insertMany(
      ['old', 'older', 'newest'].map((id, n) => ({
        ...{ ...app.tenant, kind: 'product', id, alive: false },
        lastupdated: new Date(Date.now() - (n === 2 ? 1 : 40 + n) * DAY_MS),
      })),
    );
    await service.db.collection('tidemark.leases').updateOne({}, { $unset: { since: '', token: '' } });
    await service.leave();
    service = await service.another({ TOMBSTONE_RETENTION_DAYS: '30' });
    app = app.seenBy(service);
    await eventually(async () => (await app.feed('product').page()).ids.includes('before'));
    await auditedOnceMore();
    expect((await readiness()).status).toBe(200);
  });
});

async function numberOf(collection: string, key: object): Promise<string> {
  const twin = (await service.db.collection(collection).indexes()).find(
    (one) => String(one.name).startsWith('theirs') && JSON.stringify(one.key) === JSON.stringify(key),
  );
  return String(twin?.name).slice('theirs '.length);
}

describe('an index of the service under a name of another program serves as well', () => {
  it.each<[string, string, typeof ID_KEYS | typeof STAMP_KEYS]>([
    ['along `_id`', BY_ID, ID_KEYS],
    ['along `lastupdated`', BY_STAMP, STAMP_KEYS],
  ])('also one that was made while the service runs: %s', async (_name, own, keys) => {
    const { id } = await app.product();
    const to = await app.max('product');
    await products().dropIndex(own);
    await products().createIndex(keys, { name: 'theirs' });
    await products().createIndex(keys, { name: 'and another', sparse: true });
    await service.watcher.caughtUp();
    const statuses = [await app.get('product/max'), await app.feed('product').ask({ to: to.toISOString() })];
    expect(statuses.map(({ status }) => status)).toEqual([200, 200]);
    expect((await app.feed('product').page()).ids).toEqual([id]);
    expect((await app.feed('product').page({ from: new Date(0) })).ids).toEqual([id]);
    expect((await readiness()).status).toBe(200);
  });
});

describe('another index under the name of one of the service', () => {
  const detail = async () => {
    const { json } = await readiness();
    return (json as { details: { indexes: { detail?: string } } }).details.indexes.detail;
  };

  it.each<[string, mongo.IndexSpecification, mongo.CreateIndexesOptions]>([
    ['over other fields', { organizationid: 1, 'data.theirs': 1 }, {}],
    ['for some documents only', STAMP_KEYS, { partialFilterExpression: { 'data.theirs': true } }],
    ['with a collation', STAMP_KEYS, { collation: { locale: 'en', strength: 2 } }],
    ['over other fields, and hidden', { 'data.theirs': 1 }, { hidden: true }],
  ])('%s: feeds wait, and readiness tells what to drop', async (_name, keys, options) => {
    const { id } = await app.product();
    await service.watcher.caughtUp();
    await products().dropIndex(BY_STAMP);
    await products().createIndex(keys, { ...options, name: BY_STAMP });
    await app.product({ id: 'later' });
    await eventually(async () => (await readiness()).status === 503);
    expect(await detail()).toBe(
      `The index ${BY_STAMP} of products is not the one over organizationid, appid, lastupdated, _id that the service ` +
        'needs. Drop it: the service then makes its own.',
    );
    expectProblem(await app.get('product/max'), 503, 'preparing');
    expectProblem(await app.feed('product').ask({ from: '2020-01-01', to: '9999-01-01' }), 503, 'preparing');
    await products().dropIndex(BY_STAMP);
    expect(await service.app.get(IndexKeeper).keep()).toBe(true);
    await service.ready();
    await service.watcher.caughtUp();
    expect(idsOf(await app.feed('product').drain())).toEqual([String(id), 'later'].sort());
  });
});
