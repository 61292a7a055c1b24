import type { mongo } from 'mongoose';
import { hashPassword } from '../../src/auth/index.js';
import { send } from '../support/answer.js';
import { controlStreams, holdControlStream } from '../support/control-stream.js';
import { dropDatabase, freshDatabase, type TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { Gate } from '../support/gate.js';
import { freshDataDir, removeDataDir, ServiceProcess } from '../support/process.js';

jest.setTimeout(300_000);

const PASSWORD = 'correct horse battery staple';
const TENANT = { organizationid: 'acme', appid: 'shop' };
const KNOWLEDGE_MS = 500;
const TURNS = 20;

let dataDir: string;
let database: TestDatabase;
let db: mongo.Db;
/** The way to the database of the first of the services. */
let gate: Gate;
let services: ServiceProcess[] = [];

beforeAll(async () => {
  dataDir = await freshDataDir();
  database = await freshDatabase();
  ({ db } = database);
  gate = await Gate.to(database.uri);
  await gate.open();
  const settings = { KNOWLEDGE_MS: `${KNOWLEDGE_MS}`, LOGIN_FAILURES: '1000' };
  const start = (MONGODB_URI: string) =>
    ServiceProcess.start({ dataDir, environment: { ...settings, MONGODB_URI } });
  services = await Promise.all([gate.uri, database.uri].map(start));
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
  gate.release();
  for (const name of ['applications', 'credentials']) await db.collection(name).deleteMany({});
});
afterAll(async () => {
  for (const service of services) service.resume();
  await Promise.all(services.map((service) => service.stop()));
  await gate.shut();
  await dropDatabase(database);
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
  '%s while an instance was held still (SIGSTOP), and its stream longer, is refused at once',
  async (_what, change, refused) => {
    const [held] = services as [ServiceProcess];
    await holdControlStream(gate, db);
    held.pause();
    await change();
    const tooOld = performance.now() + KNOWLEDGE_MS;
    await eventually(() => performance.now() > tooOld);
    const answer = statusOf(held);
    held.resume();
    expect(await answer).toBe(refused);
  },
);

/** Last: it ends the services. */
it('instances that stop close their streams, which the database would keep for minutes', async () => {
  expect(await statuses()).toEqual([200, 200]);
  await Promise.all(services.map((service) => service.stop()));
  expect(await controlStreams(db)).toEqual([]);
});
