import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { hashPassword } from '../../src/auth/index.js';
import { ControlStream } from '../../src/platform/control/index.js';
import { type EmbeddedDatabase, startEmbedded } from '../../src/embedded/index.js';
import {
  type Answer,
  eventually,
  expectProblem,
  PASSWORD,
  send,
  type TestApplication,
  TestService,
} from '../support/index.js';
import { freshDataDir, removeDataDir } from '../support/process.js';

/** Milliseconds, longer than any answer takes: 10 seconds by contract. */
const PATIENCE_MS = 20_000;
const KNOWLEDGE_MS = 500;

let dataDir: string;
let database: EmbeddedDatabase;
let mongod: number;
let service: TestService;
let app: TestApplication;
let newcomer: string;

beforeAll(async () => {
  dataDir = await freshDataDir();
  database = await startEmbedded({
    dataDir,
    mongodBinary: process.env['MONGOMS_SYSTEM_BINARY'],
    say: () => undefined,
  });
  mongod = Number(await readFile(join(dataDir, 'mongod', 'mongod.lock'), 'utf8'));
  process.env['TIDEMARK_TEST_MONGODB_URI'] = database.uri;
  service = await TestService.start({ MARK_WAIT: '2000', KNOWLEDGE_MS: `${KNOWLEDGE_MS}` });
  app = await service.application();
  newcomer = await app.credential({ passwordhash: await hashPassword(PASSWORD) });
  await app.product({ channels: ['web'] });
  expect((await app.get('product/max')).status).toBe(200);
  expect((await create()).status).toBe(201);
});
afterAll(async () => {
  process.kill(mongod, 'SIGCONT');
  await service.stop();
  await database.stop();
  await removeDataDir(dataDir);
});

/** Freezes mongod until nothing counts that the service has heard: for KNOWLEDGE_MS, `max` may be answered from memory. */
async function freeze(): Promise<void> {
  process.kill(mongod, 'SIGSTOP');
  await eventually(() => !service.app.get(ControlStream, { strict: false }).isCurrent);
}

const create = () =>
  app.send('POST', 'api/v0.1/member', {
    body: { accountnumber: '1', email: `${Math.random()}@example.com` },
  });

const everything = () => [
  app.get('product/max'),
  app.feed('member').ask(),
  app.softDeletes('product', 'bikes').ask(),
  app.hardDeletes('product').ask(),
  app.channel('web').ask(),
  app.send('GET', 'api/v0.1/member/x'),
  app.get('product/max', { user: newcomer }),
  create(),
];

describe('a database that is frozen (SIGSTOP)', () => {
  it('each request is answered all the same', async () => {
    await freeze();
    const answers: Answer[] = [];
    const asked = everything();
    for (const one of asked) void one.then((answer) => answers.push(answer));
    await eventually(() => answers.length === asked.length, PATIENCE_MS);
    for (const answer of answers) {
      expectProblem(answer, 503, 'database-away');
      expect(answer.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
    }
  });

  it('health and metrics tell', async () => {
    const [live, ready, metrics] = await Promise.all(
      ['/health/live', '/health/ready', '/metrics'].map((path) => send(`${service.url}${path}`, 'GET', {})),
    );
    expect([live?.status, ready?.status, metrics?.status]).toEqual([200, 503, 200]);
    expect(ready?.json).toMatchObject({
      details: { database: { state: 'away' }, replication: { state: 'unknown' } },
    });
  });

  it('what was left behind holds up nothing once it is back', async () => {
    process.kill(mongod, 'SIGCONT');
    await eventually(async () => (await app.get('product/max')).status === 200, PATIENCE_MS);
  });

  it('what was known does not count any more, and what is revoked behind it is refused', async () => {
    await service.knows(app);
    await freeze();
    expectProblem(await app.get('product/max'), 503, 'database-away');
    process.kill(mongod, 'SIGCONT');
    const username = app.user('read');
    await service.db.collection('credentials').updateOne({ username }, { $set: { disabled: true } });
    await service.heard();
    await eventually(async () => (await app.get('product/max')).status === 401, PATIENCE_MS);
  });
});
