/** @depends-on-server */
import { mongo } from 'mongoose';
import { collectionOf, type Kind } from '../../src/kinds/index.js';
import { type TestApplication, TestService } from '../support/index.js';
import { type OwnMongod, startOwn } from '../support/own-mongod.js';
import { rawDocument } from './raw-document.js';
import { insertRaw } from './raw-insert.js';

/** A doubled name can end mongod, so this file has one of its own. */
let mongod: OwnMongod;
let service: TestService;
let app: TestApplication;

beforeAll(async () => {
  mongod = await startOwn();
  process.env['TIDEMARK_TEST_MONGODB_URI'] = mongod.uri;
  service = await TestService.start();
});
beforeEach(async () => {
  app = await service.application();
});
afterAll(async () => {
  await service.stop();
  await mongod.stop();
});

const LONG_AGO = new Date('2001-01-01T00:00:00.000Z');
const LONGER_AGO = new Date('2000-01-01T00:00:00.000Z');
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4/;

const scope = (): [string, unknown][] => Object.entries(app.tenant);

async function write(kind: Kind, fields: [string, unknown][]): Promise<mongo.ObjectId> {
  const _id = new mongo.ObjectId();
  await insertRaw(service.uri, collectionOf(kind), rawDocument([['_id', _id], ...scope(), ...fields]));
  return _id;
}

/** The names at the top of a record, as often as they stand there. */
async function namesOf(kind: Kind, _id: mongo.ObjectId): Promise<string[]> {
  const found = await service.db
    .collection(collectionOf(kind))
    .aggregate<{ names: string[] }>([
      { $match: { _id } },
      { $project: { names: { $map: { input: { $objectToArray: '$$ROOT' }, in: '$$this.k' } } } },
    ])
    .toArray();
  return found[0]?.names ?? [];
}

/** The mark is raised, so that what comes with an old stamp comes too late. */
async function readEverything(kind: Kind): Promise<Date> {
  await app.put(kind);
  return app.max(kind);
}

describe('a doubled `lastupdated`', () => {
  it('that comes too late is stamped anew, stands once, and is delivered', async () => {
    const before = await readEverything('product');
    const _id = await write('product', [
      ['id', 'late'],
      ['lastupdated', LONG_AGO],
      ['data', rawDocument([['a', 1]])],
      ['lastupdated', LONGER_AGO],
    ]);
    await service.watcher.caughtUp();
    const items = await app.feed('product').drain({ from: before });
    expect(items.map(({ id }) => id)).toEqual(['late']);
    expect((await namesOf('product', _id)).filter((name) => name === 'lastupdated')).toHaveLength(1);
    const stored = await service.db.collection('products').findOne({ _id });
    expect(stored?.['lastupdated']).toEqual(new Date(items[0]?.lastupdated ?? 0));
  });

  it('that is not a date is stamped anew, however often it stands there', async () => {
    const before = await readEverything('product');
    const fields = Array.from({ length: 12 }, (): [string, unknown] => ['lastupdated', 'soon']);
    await write('product', [['id', 'often'], ...fields]);
    await service.watcher.caughtUp();
    expect((await app.feed('product').drain({ from: before })).map(({ id }) => id)).toEqual(['often']);
  });

  it('is stamped anew when an edited filter judges it differently, among others that are not doubled', async () => {
    const data = rawDocument([['colour', 'red']]);
    const stamps: [string, unknown][] = [
      ['lastupdated', LONG_AGO],
      ['lastupdated', LONG_AGO],
    ];
    await write('product', [['id', 'doubled'], ['data', data], ...stamps]);
    await app.product({ id: 'plain', data: { colour: 'red' } });
    await app.filter('product', 'reds', { 'data.colour': 'red' });
    const before = await app.max('product');
    await service.db
      .collection('services')
      .updateOne({ ...app.tenant, name: 'reds' }, { $set: { filter: { 'data.colour': 'blue' } } });
    await service.watcher.caughtUp();
    const left = await app.softDeletes('product', 'reds').drain({ from: before });
    expect(left.map(({ id }) => id).sort()).toEqual(['doubled', 'plain']);
  });

  it('comes back to life under an `id` that was deleted', async () => {
    const first = await app.product({ id: 'phoenix' });
    await app.remove('product', first);
    const before = await app.max('product');
    await write('product', [
      ['id', 'phoenix'],
      ['lastupdated', LONG_AGO],
      ['lastupdated', LONG_AGO],
    ]);
    await service.watcher.caughtUp();
    expect((await app.feed('product').drain({ from: before })).map(({ id }) => id)).toEqual(['phoenix']);
    expect(await app.hardDeletes('product').drain()).toEqual([]);
  });
});

describe('a doubled `id`', () => {
  it('that is not a string is repaired: it gets a UUID', async () => {
    const before = await readEverything('product');
    await write('product', [
      ['id', null],
      ['lastupdated', LONG_AGO],
      ['id', null],
    ]);
    await service.watcher.caughtUp();
    const [item, ...more] = await app.feed('product').drain({ from: before });
    expect(item?.id).toMatch(UUID);
    expect(more).toEqual([]);
  });

  it('counts as the first one, in the feed and in the hard delete', async () => {
    const _id = await write('product', [
      ['id', 'first'],
      ['lastupdated', new Date()],
      ['id', 'second'],
    ]);
    await service.watcher.caughtUp();
    expect((await app.feed('product').page()).ids).toEqual(['first']);
    await app.remove('product', { _id });
    expect((await app.hardDeletes('product').page()).ids).toEqual(['first']);
  });

  it('that is removed is the other one from then on, in the feed and in the hard delete', async () => {
    const _id = await write(
      'product',
      ['first', 'second'].map((id): [string, unknown] => ['id', id]),
    );
    await service.watcher.caughtUp();
    await app.change('product', { _id }, { $unset: { id: '' } });
    expect((await app.feed('product').page()).ids).toEqual(['second']);
    await app.remove('product', { _id });
    expect((await app.hardDeletes('product').page()).ids.sort()).toEqual(['first', 'second']);
  });
});

describe.each<[string, string[]]>([
  ['id', ['id', 'id', 'lastupdated']],
  ['organizationid', ['organizationid', 'id', 'lastupdated']],
  ['appid', ['appid', 'id', 'lastupdated']],
  ['lastupdated', ['id', 'lastupdated', 'lastupdated']],
])('a doubled `%s` before other fields', (name, order) => {
  it('leaves nothing out of the digest: it counts what `updates` delivers', async () => {
    const field = (one: string): [string, unknown] => {
      if (one === 'id') return ['id', `doubled-${name}`];
      return [one, one === 'lastupdated' ? LONG_AGO : app.tenant[one as 'appid']];
    };
    await write('product', [...order.map(field), ['type', 'product']]);
    await app.put('product', { id: 'plain' });
    await service.watcher.caughtUp();
    const to = (await app.max('product')).toISOString();
    const items = await app.feed('product').drain({ to });
    expect(items.map(({ id }) => id).sort()).toEqual([`doubled-${name}`, 'plain']);
    const { json } = await app.get('product/default/digest', { query: { to, bucket: '0', buckets: '1' } });
    const { count, records } = json as { count: number; records: { id: string; lastupdated: string }[] };
    expect(count).toBe(items.length);
    expect(records).toEqual(items.map(({ id, lastupdated }) => ({ id, lastupdated })));
  });
});

describe('the e-mail of a member with a doubled name', () => {
  const keyOf = async (_id: mongo.ObjectId) =>
    (await service.db.collection('members').findOne({ _id }, { projection: { emailkey: '$emailkey' } }))?.[
      'emailkey'
    ] as unknown;

  it.each(['appid', 'organizationid', 'id'])(
    'before its `emailkey`, here `%s`: the next member that has it gets the key once it is given up',
    async (name) => {
      const email = `${name}@example.com`;
      const first = new mongo.ObjectId();
      const again: [string, unknown] = [name, { ...app.tenant, id: 'first' }[name]];
      const fields: [string, unknown][] = [
        ...scope(),
        again,
        ['id', 'first'],
        ['lastupdated', new Date()],
        ['data', rawDocument([['email', email]])],
        ['emailkey', email],
      ];
      await insertRaw(service.uri, 'members', rawDocument([['_id', first], ...fields]));
      await service.watcher.caughtUp();
      const second = await app.member({ id: 'second', data: { email } });
      await service.watcher.caughtUp();
      expect([await keyOf(first), await keyOf(second._id)]).toEqual([email, undefined]);
      await service.db
        .collection('members')
        .updateOne({ _id: first }, { $set: { 'data.email': `other-${email}` } });
      await service.watcher.caughtUp();
      expect([await keyOf(first), await keyOf(second._id)]).toEqual([`other-${email}`, email]);
    },
  );
});

/** Last: of several services in one process the newest one looks at all credentials, since Passport is one for all. */
it('a first start learns a doubled `id` as the first one, too', async () => {
  const late = await TestService.start({}, async (db) => {
    const fields = Object.entries({ organizationid: 'o', appid: 'a', id: 'first', lastupdated: new Date() });
    const bytes = rawDocument([['_id', new mongo.ObjectId()], ...fields, ['id', 'second']]);
    await insertRaw(new URL(db.databaseName, mongod.uri).href, 'products', bytes);
  });
  const known = await late.db.collection('tidemark.ledger').find().toArray();
  expect(known.map(({ id }) => id as string)).toEqual(['first']);
  await late.stop();
});
