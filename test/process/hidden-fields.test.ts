import { mongo } from 'mongoose';
import { hashPassword } from '../../src/auth/index.js';
import { eventually } from '../support/eventually.js';
import { startLocked } from '../support/own-mongod.js';
import { freshDataDir, removeDataDir, ServiceProcess } from '../support/process.js';

jest.setTimeout(300_000);

const tenant = { organizationid: 'acme', appid: 'shop' };
const PASSWORD = 'correct horse battery staple';
/** Values of hidden fields, which no answer and no line may contain. */
const CANARY = 'canary-7c21';
const FIELDS = {
  fields: { except: ['createdBy', 'data.email', 'data.rows.price', 'data.address'] },
  hash: ['data.number', 'channels'],
};

let mongod: Awaited<ReturnType<typeof startLocked>>;
let client: mongo.MongoClient;
let db: mongo.Db;
let dataDir: string;
let service: ServiceProcess;
const texts: string[] = [];

function recordOf(id: string, fields: mongo.Document = {}): mongo.Document {
  return {
    ...{ ...tenant, id, type: 'record', createdBy: CANARY, createDate: new Date(), lastupdated: new Date() },
    data: {
      name: `name of ${id}`,
      email: `${CANARY}-${id}@example.org`,
      number: CANARY,
      rows: [{ price: CANARY, sku: 'A' }, [{ price: CANARY }]],
      address: { street: CANARY, [CANARY]: CANARY },
    },
    channels: ['web', CANARY],
    ...fields,
  };
}

async function ask(path: string, { user = 'reader', ...options }: RequestInit & { user?: string } = {}) {
  const authorization = `Basic ${btoa(`${user}:${PASSWORD}`)}`;
  const answer = await fetch(`${service.url}${path}`, {
    ...options,
    headers: { authorization, ...(options.headers as Record<string, string>) },
  });
  const text = await answer.text();
  texts.push(JSON.stringify([...answer.headers]), text);
  return { status: answer.status, text };
}

/** Asks until the answer is none of a service that is not ready. */
async function served(path: string, options?: Parameters<typeof ask>[1]) {
  await eventually(async () => (await ask(path, options)).status !== 503);
  return ask(path, options);
}

beforeAll(async () => {
  // It must not bypass validators, so that the service meets refused writes.
  mongod = await startLocked([{ name: 'plain', roles: [{ role: 'readWrite', db: 'tidemark' }] }]);
  dataDir = await freshDataDir();
  client = new mongo.MongoClient(mongod.as('root'));
  db = client.db('tidemark');
  const passwordhash = await hashPassword(PASSWORD);
  const credential = (username: string, level: string, scope: object) => ({
    ...{ username, passwordhash, level, scopes: [scope] },
  });
  await db.collection('applications').insertOne({ ...tenant });
  await db
    .collection('credentials')
    .insertMany([
      credential('reader', 'write', tenant),
      credential('admin', 'admin', { organizationid: '*', appid: '*' }),
    ]);
  await db.collection('services').insertMany(
    ['member', 'product'].flatMap((kind) => [
      { ...tenant, kind, name: 'default', ...FIELDS },
      { ...tenant, kind, name: 'some', filter: { 'data.name': /^name/ }, ...FIELDS },
      { ...tenant, kind, name: 'wrong', filter: {}, fields: { exept: ['data.email'] } },
    ]),
  );
  for (const name of ['members', 'products']) {
    await db.createCollection(name);
    await db
      .collection(name)
      .insertMany(Array.from({ length: 20 }, (_, index) => recordOf(`${name}-${index}`)));
  }
  service = await ServiceProcess.start({
    dataDir,
    environment: {
      MONGODB_URI: mongod.as('plain'),
      LOG_LEVEL: 'trace',
      LOG_FORMAT: 'json',
    },
  });
});
afterAll(async () => {
  await service.stop();
  await client.close();
  await mongod.stop();
  await removeDataDir(dataDir);
});

const TO = `to=${encodeURIComponent('9999-12-31T23:59:59.999Z')}`;

it('no answer, no header, no metric and no line of a log of any level has a byte of a hidden field', async () => {
  const api = '/acme/shop/api/v1';
  for (const kind of ['member', 'product'])
    for (const name of ['default', 'some']) {
      const { status, text } = await served(`${api}/${kind}/${name}/updates?${TO}`);
      expect([status, text.includes('name of'), text.includes('"number":"')]).toEqual([200, true, true]);
      await served(`${api}/${kind}/${name}/changes`);
      await served(`${api}/${kind}/${name}/changes`, { headers: { accept: 'application/x-ndjson' } });
      await served(`${api}/${kind}/${name}/digest?${TO}&buckets=4&list=0,1,2,3`);
      expect((await served(`${api}/${kind}/wrong/updates?${TO}`)).status).toBe(500);
    }
  await served(`${api}/productbychannel/web/updates?${TO}`);
  await served(`${api}/productbychannel/web/changes`);

  // Records that cannot be stamped: what MongoDB says about a refused write names the values of the record.
  for (const name of ['members', 'products'])
    await db.command({
      collMod: name,
      validator: { $jsonSchema: { properties: { data: { properties: { email: { enum: ['one'] } } } } } },
    });
  for (const name of ['members', 'products']) {
    const { lastupdated: _stamp, ...record } = recordOf(`refused-${name}`);
    await db.collection(name).insertOne(record, { bypassDocumentValidation: true });
    const double = recordOf(`${name}-double`, { id: Number('17') });
    await db.collection(name).insertMany([double], { bypassDocumentValidation: true });
  }
  await db
    .collection('services')
    .updateMany({ name: 'some' }, { $set: { hash: ['data.name', 'data.number', 'channels'] } });
  await eventually(() => service.logged.some((line) => /set aside/i.test(line)));
  await served(`${api}/product/some/updates?${TO}`);

  const member = { email: `${CANARY}-members-1@example.org`, accountnumber: '1' };
  const headers = { 'content-type': 'application/json' };
  await ask('/acme/shop/api/v0.1/member', { method: 'POST', body: JSON.stringify(member), headers });
  const admin = '/admin/v1/applications/acme/shop';
  // Administrators see a record as it is stored, not as a service shows it: only its history is looked at.
  const histories = ['members-1', 'refused-members'].map((id) => `${admin}/records/member/${id}/history`);
  const seen = [
    ...[`${admin}/services`, '/admin/v1/consumers', '/admin/v1/audittrail', '/admin/v1/figures'],
    ...histories,
  ];
  for (const path of seen) expect((await ask(path, { user: 'admin' })).status).toBe(200);
  for (const path of ['/health/ready', '/metrics', '/admin/v1/status']) await ask(path, { user: 'admin' });
  const body = JSON.stringify({ filter: { 'data.sku': 'none' }, name: 'some' });
  const preview = await ask(`${admin}/preview/product`, { user: 'admin', method: 'POST', headers, body });
  expect(preview.status).toBe(200);
  expect(texts.filter((text) => text.includes(CANARY))).toEqual([]);
  expect(service.lines.filter((line) => line.includes(CANARY))).toEqual([]);
  expect(service.lines.length).toBeGreaterThan(50);
});
