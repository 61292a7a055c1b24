import { randomBytes } from 'node:crypto';
import { mongo } from 'mongoose';
import { SETTINGS } from '../../src/platform/config/index.js';
import { ControlStream } from '../../src/platform/control/index.js';
import { eventually, Gate, holdControlStream, type TestApplication, TestService } from '../support/index.js';
import { type OwnMongod, startShortLog } from '../support/own-mongod.js';
import { MemberClient, newEmail } from './member-client.js';

const KNOWLEDGE_MS = 500;
const FOR_EVER_MS = 3_600_000;
const JUNK = Array.from({ length: 8 }, () => ({ bytes: randomBytes(512 * 1024) }));

let mongod: OwnMongod;
let first: TestService;
let gate: Gate;
/** An instance that comes to the database through the gate only. */
let service: TestService;
let control: ControlStream;
let app: TestApplication;
let user: string;

beforeAll(async () => {
  mongod = await startShortLog();
  process.env['TIDEMARK_TEST_MONGODB_URI'] = mongod.uri;
  first = await TestService.start();
  await first.leave();
  gate = await Gate.to(first.uri);
  await gate.open();
  service = await first.another({ MONGODB_URI: gate.uri, KNOWLEDGE_MS: `${KNOWLEDGE_MS}` });
  control = service.app.get(ControlStream, { strict: false });
});
beforeEach(async () => {
  app = await service.application({ settings: { replicatepasswordhash: true } });
  user = await app.credential();
  for (const n of [1, 2]) await app.product({ id: `p${n}`, data: { n } });
  await app.filter('product', 'few', { 'data.n': 1 });
  await service.knows(app);
  expect((await app.get('product/max', { user })).status).toBe(200);
});
afterEach(async () => {
  gate.release();
  await service.knows(app);
});
afterAll(async () => {
  await service.leave();
  await gate.shut();
  await first.stop();
  await mongod.stop();
});

const statusOf = async (options: { user?: string } = {}) => (await app.get('product/max', options)).status;
const collection = (name: string) => service.db.collection(name);
const revoke = () => collection('credentials').updateOne({ username: user }, { $set: { disabled: true } });

const holdStream = () => holdControlStream(gate, service.db);
/** What is known is too old by then, though the stream may not be known to be broken. */
const tooOld = () => eventually(() => !control.isCurrent);

describe('while the stream is held still the database is asked, as soon as what is known is too old', () => {
  it('a credential that is revoked is refused, and stays so when the stream goes on', async () => {
    await holdStream();
    await revoke();
    await tooOld();
    expect(await statusOf({ user })).toBe(401);
    gate.release();
    await eventually(() => control.isCurrent);
    expect(await statusOf({ user })).toBe(401);
  });

  it('an application that is removed is unknown', async () => {
    await holdStream();
    await collection('applications').deleteOne(app.tenant);
    await tooOld();
    expect(await statusOf()).toBe(404);
    await collection('applications').insertOne({ ...app.tenant });
    expect(await statusOf()).toBe(200);
  });

  it('an application that keeps its secrets from now on', async () => {
    const members = new MemberClient(app);
    await members.create({ accountnumber: '1', email: newEmail(), passwordhash: 'secret' });
    const to = (await app.max('member')).toISOString();
    const isTold = async () => (await app.feed('member').ask({ to })).text.includes('secret');
    expect(await isTold()).toBe(true);
    await service.knows(app);
    await holdStream();
    await collection('applications').updateOne(app.tenant, { $set: { settings: {} } });
    await tooOld();
    expect(await isTold()).toBe(false);
  });

  it('a filter that is edited', async () => {
    const from = await app.max('product');
    await holdStream();
    await tooOld();
    expect(control.isCurrent).toBe(false);
    await collection('services').updateOne(app.tenant, { $set: { filter: { 'data.n': 2 } } });
    await service.watcher.caughtUp();
    const to = await app.max('product');
    expect((await app.feed('product', 'few').page({ from, to })).ids).toEqual(['p2']);
    expect((await app.softDeletes('product', 'few').page({ from, to })).ids).toEqual(['p1']);
  });
});

describe('where the log does not reach back any more to where the stream was', () => {
  const settings = () => service.app.get<{ knowledgeMs: number }>(SETTINGS, { strict: false });
  let knowledgeMs: number;
  beforeEach(() => {
    ({ knowledgeMs } = settings());
    settings().knowledgeMs = FOR_EVER_MS;
  });
  afterEach(() => {
    settings().knowledgeMs = knowledgeMs;
  });

  /** Writes to another database until everything that the stream has heard of is gone from the log. */
  async function rollLog(): Promise<void> {
    const junk = service.client.db('aside').collection('junk');
    const log = service.client.db('local').collection<{ ts: mongo.Timestamp }>('oplog.rs');
    await eventually(async () => {
      await junk.insertMany(JUNK.map((one) => ({ ...one })));
      const oldest = await log.findOne({}, { sort: { $natural: 1 }, readConcern: { level: 'local' } });
      return control.heardUpTo === undefined || oldest?.ts.greaterThan(control.heardUpTo);
    });
  }

  it('it begins anew, and knows nothing of what was before', async () => {
    await holdStream();
    await revoke();
    await collection('applications').updateOne(app.tenant, { $set: { appid: 'elsewhere' } });
    expect([await statusOf({ user }), await statusOf()]).toEqual([200, 200]);
    await rollLog();
    gate.release();
    await eventually(() => control.heardUpTo === undefined);
    await eventually(() => control.isCurrent);
    expect([await statusOf({ user }), await statusOf()]).toEqual([401, 404]);
    await collection('applications').updateOne({ appid: 'elsewhere' }, { $set: app.tenant });
  });
});
