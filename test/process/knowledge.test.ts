import { setTimeout as wait } from 'node:timers/promises';
import { mongo } from 'mongoose';
import { hashPassword } from '../../src/auth/index.js';
import { type EmbeddedDatabase, startEmbedded } from '../../src/embedded/index.js';
import { send } from '../support/answer.js';
import { eventually } from '../support/eventually.js';
import { freshDataDir, removeDataDir, ServiceProcess } from '../support/process.js';
import { testMongodBinary } from '../support/test-mongod.js';

jest.setTimeout(120_000);

const PASSWORD = 'correct horse battery staple';
const TENANT = { organizationid: 'acme', appid: 'shop' };
const KNOWLEDGE_MS = 500;
const TURNS = 20;

let dataDir: string;
let database: EmbeddedDatabase;
let client: mongo.MongoClient;
let db: mongo.Db;
let services: ServiceProcess[] = [];

beforeAll(async () => {
  dataDir = await freshDataDir();
  const mongodBinary = await testMongodBinary(() => undefined);
  database = await startEmbedded({ dataDir, mongodBinary, say: () => undefined });
  client = await new mongo.MongoClient(database.uri, { writeConcern: { w: 'majority' } }).connect();
  db = client.db();
  const environment = {
    ...{ MONGODB_URI: database.uri, KNOWLEDGE_MS: `${KNOWLEDGE_MS}`, LOGIN_FAILURES: '1000' },
  };
  services = await Promise.all([1, 2].map(() => ServiceProcess.start({ dataDir, environment })));
});
beforeEach(async () => {
  const passwordhash = await hashPassword(PASSWORD);
  await db.collection('applications').insertOne({ ...TENANT });
  await db
    .collection('credentials')
    .insertOne({ username: 'ann', passwordhash, level: 'read', scopes: [TENANT] });
  for (let turn = 0; turn < TURNS; turn += 1) expect(await statuses()).toEqual([200, 200]);
});
afterEach(async () => {
  for (const name of ['applications', 'credentials']) await db.collection(name).deleteMany({});
});
afterAll(async () => {
  for (const service of services) service.resume();
  await Promise.all(services.map((service) => service.stop()));
  await client.close();
  await database.stop();
  await removeDataDir(dataDir);
});

const statusOf = async ({ url }: ServiceProcess) => {
  const answer = await send(`${url}/acme/shop/api/v1/product/max`, 'GET', {
    user: 'ann',
    password: PASSWORD,
  });
  return answer.status;
};
const statuses = () => Promise.all(services.map(statusOf));
const revoke = () =>
  db.collection('credentials').updateOne({ username: 'ann' }, { $set: { disabled: true } });
const remove = () => db.collection('applications').deleteMany(TENANT);

it.each([
  ['a credential that is revoked', revoke, 401],
  ['an application that is removed', remove, 404],
])('%s is refused by every instance, and stays so', async (_what, change, refused) => {
  await change();
  await eventually(async () => (await statuses()).join() === `${refused},${refused}`);
  for (let turn = 0; turn < TURNS; turn += 1) expect(await statuses()).toEqual([refused, refused]);
});

it.each([
  ['a credential that was revoked', revoke, 401],
  ['an application that was removed', remove, 404],
])(
  '%s while an instance was held still (SIGSTOP) is refused by it at once',
  async (_what, change, refused) => {
    const [held] = services as [ServiceProcess];
    held.pause();
    await change();
    await wait(KNOWLEDGE_MS);
    const answer = statusOf(held);
    held.resume();
    expect(await answer).toBe(refused);
  },
);
