/** @depends-on-server */
import { mongo } from 'mongoose';
import { eventually, type TestApplication, TestService } from '../support/index.js';
import { type OwnMongod, startOwn } from '../support/own-mongod.js';
import { rawDocument } from './raw-document.js';
import { insertRaw } from './raw-insert.js';

/** A doubled name can end mongod, so this file has one of its own. */
let mongod: OwnMongod;
let service: TestService;
let app: TestApplication;

const TENANT = { organizationid: 'acme', appid: 'shop' };
const CHANNEL = 'of-doubled';
const IDS = ['id', 'organizationid', 'appid', 'lastupdated'];

beforeAll(async () => {
  mongod = await startOwn();
  process.env['TIDEMARK_TEST_MONGODB_URI'] = mongod.uri;
  service = await TestService.start({}, async (db) => {
    const uri = new URL(db.databaseName, mongod.uri).href;
    for (const name of IDS) {
      const fields: [string, unknown][] = Object.entries({ ...TENANT, id: name, lastupdated: new Date() });
      const twice = fields.flatMap((field) => (field[0] === name ? [field, field] : [field]));
      const bytes = rawDocument([
        ['_id', new mongo.ObjectId()],
        ...twice,
        ['channels', [`${CHANNEL}-${name}`]],
      ]);
      await insertRaw(uri, 'products', bytes);
    }
  });
  app = await service.application(TENANT);
});
afterAll(async () => {
  await service.stop();
  await mongod.stop();
});

/** The writes into one of the service's collections, as the log has them. */
async function written(name: string): Promise<string[]> {
  const found = await service.client
    .db('local')
    .collection('oplog.rs')
    .find({ ns: `${service.db.databaseName}.${name}`, op: { $in: ['i', 'u'] } })
    .toArray();
  return found.map(({ o }) => JSON.stringify(o));
}

const living = async () => {
  const entries = await service.db.collection('tidemark.ledger').find({ alive: true }).toArray();
  return entries.map(({ id }) => id as string).sort();
};

it('a first pass learns records with a doubled name, and sets none aside', async () => {
  await service.watcher.caughtUp();
  expect(await living()).toEqual([...IDS].sort());
  expect(await written('tidemark.quarantine')).toEqual([]);
});

it('a first pass learns the channels of products with a doubled name', async () => {
  const channels = await service.db.collection('tidemark.channels').find(TENANT).toArray();
  expect(channels.map(({ channel }) => channel as string).sort()).toEqual(
    IDS.map((name) => `${CHANNEL}-${name}`).sort(),
  );
});

it('a pass that repairs takes none of them for deleted', async () => {
  const before = await service.db.collection('tidemark.leases').findOne();
  await service.db.collection('tidemark.marks').drop();
  await eventually(async () => {
    const lease = await service.db.collection('tidemark.leases').findOne();
    return String(lease?.['since']) !== String(before?.['since']) && lease?.['pass'] === undefined;
  });
  await service.watcher.caughtUp();
  expect((await app.feed('product').page()).ids.sort()).toEqual([...IDS].sort());
  expect((await written('tidemark.ledger')).filter((write) => write.includes('"alive":false'))).toEqual([]);
  expect(await written('tidemark.quarantine')).toEqual([]);
});

it('each gets a hard delete', async () => {
  await service.db.collection('products').deleteMany({});
  await service.watcher.caughtUp();
  expect((await app.hardDeletes('product').page()).ids.sort()).toEqual([...IDS].sort());
});

it('a doubled name on the path of a field that is hidden from now on: the record is delivered again', async () => {
  const inner = (name: string) => rawDocument([[name, 1]]);
  const doubled = rawDocument([
    ['a', inner('x')],
    ['a', inner('b')],
  ]);
  const write = (id: string, data: Uint8Array) =>
    insertRaw(
      service.uri,
      'products',
      rawDocument([
        ['_id', new mongo.ObjectId()],
        ...Object.entries({ ...TENANT, id, lastupdated: new Date() }),
        ['data', data],
      ]),
    );
  await write('object', doubled);
  await write('list', rawDocument([['rows', [doubled]]]));
  await app.product({ id: 'other', data: { a: { x: 1 }, rows: [{ a: { x: 1 } }] } });
  await app.filter('product', 'erp', {});
  const before = await app.max('product');
  const edit = { $set: { fields: { except: ['data.a.b', 'data.rows.a.b'] } } };
  await service.db.collection('services').updateOne({ ...TENANT, name: 'erp' }, edit);
  await service.watcher.caughtUp();
  const items = await app.feed('product', 'erp').drain({ from: before });
  expect(items.map(({ id }) => id).sort()).toEqual(['list', 'object']);
  expect(JSON.stringify(items)).not.toContain('"b"');
});
