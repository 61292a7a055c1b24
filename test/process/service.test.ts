import { once } from 'node:events';
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as wait } from 'node:timers/promises';
import type { mongo } from 'mongoose';
import { hashPassword } from '../../src/auth/index.js';
import { dropDatabase, freshDatabase, type TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { freshDataDir, removeDataDir, ServiceProcess } from '../support/process.js';
import { startStandalone, startUninitiated } from '../support/own-mongod.js';

const PASSWORD = 'correct horse battery staple';
const PATIENCE_MS = 30_000;
const TENANT = { organizationid: 'acme', appid: 'shop' };

let dataDir: string;
const databases: TestDatabase[] = [];

beforeAll(async () => {
  dataDir = await freshDataDir();
});
afterAll(async () => {
  await Promise.all(spawned.map((service) => service.stop()));
  await Promise.all(databases.map(dropDatabase));
  await removeDataDir(dataDir);
});

/** A database of its own for each service. */
async function ownDatabase(): Promise<{ MONGODB_URI: string; db: mongo.Db }> {
  const database = await freshDatabase();
  databases.push(database);
  return { MONGODB_URI: database.uri, db: database.db };
}

const spawned: ServiceProcess[] = [];

function spawn(environment: Record<string, string>): ServiceProcess {
  const service = ServiceProcess.spawn({ dataDir: join(dataDir, 'unused'), environment });
  spawned.push(service);
  return service;
}

async function start(environment: Record<string, string>): Promise<ServiceProcess> {
  const service = spawn(environment);
  await eventually(() => service.isReady());
  return service;
}

/** What a start that cannot succeed says, once it has ended with this exit code. */
async function failureOf(environment: Record<string, string>, expected = 1): Promise<string[]> {
  const service = spawn({ LOG_LEVEL: 'silent', ...environment });
  const code = await Promise.race([service.exited, wait(PATIENCE_MS, 'still running', { ref: false })]);
  expect(code).toBe(expected);
  return service.lines.filter((line) => !line.startsWith('Tidemark listens at http://'));
}

/** Of a configuration that is wrong. */
const WRONG_SETTINGS = 78;

describe('a bad value stops the start with one clear line and exit code 78', () => {
  it.each([
    ['PORT', 'http', /^PORT "http" is not valid\. A valid value: .+\.$/],
    ['LOG_LEVEL', 'loud', /^LOG_LEVEL "loud" is not valid\. A valid value: silent, .+\.$/],
    ['TRUST_PROXY', 'proxy', /^TRUST_PROXY "proxy" is not valid\. A valid value: .+\.$/],
    ['MONGODB_URI', 'mongodb://ann:se@cret@db', /^MONGODB_URI is not valid: .+ A valid value: .+\.$/],
    ['MONGODB_URI_FILE', '/', /^MONGODB_URI_FILE "\/" cannot be read: .+ A valid value: .+\.$/],
  ])('%s=%s', async (name, value, line) => {
    expect(await failureOf({ [name]: value }, WRONG_SETTINGS)).toEqual([expect.stringMatching(line)]);
  });

  it('With `NODE_ENV=production`, no `MONGODB_URI` is an error', async () => {
    const lines = await failureOf({ NODE_ENV: 'production' }, WRONG_SETTINGS);
    expect(lines).toEqual([expect.stringMatching(/^MONGODB_URI is missing: /)]);
  });

  it('a port that is taken', async () => {
    const holder = createServer().listen(0, '127.0.0.1');
    await once(holder, 'listening');
    const { port } = holder.address() as AddressInfo;
    const { MONGODB_URI } = await ownDatabase();
    const lines = await failureOf({ MONGODB_URI, PORT: String(port) });
    expect(lines).toEqual([expect.stringContaining(`EADDRINUSE: address already in use 127.0.0.1:${port}`)]);
    holder.close();
  });
});

describe('a database on which the promises cannot be kept', () => {
  it('A MongoDB that is not a replica set is a clear error', async () => {
    const standalone = await startStandalone();
    const lines = await failureOf({ MONGODB_URI: standalone.uri });
    await standalone.stop();
    expect(lines).toEqual([
      expect.stringMatching(/^This MongoDB is a stand-alone server\. .*--replSet.*rs\.initiate\(\)/),
    ]);
  });

  it('a member that waits for rs.initiate() is not called a stand-alone server', async () => {
    const member = await startUninitiated();
    const lines = await failureOf({ MONGODB_URI: `${member.uri}?directConnection=true` });
    await member.stop();
    expect(lines).toEqual([
      expect.stringMatching(
        /^This MongoDB is a member of a replica set that is not initiated.*rs\.initiate\(\)/,
      ),
    ]);
  });

  it('where existing data breaks a unique index, the start ends with one message that lists the ids', async () => {
    const { MONGODB_URI, db } = await ownDatabase();
    const double = { ...TENANT, id: 'double' };
    await db.collection('members').insertMany([{ ...double }, { ...double }]);
    expect(await failureOf({ MONGODB_URI })).toEqual([
      expect.stringMatching(/^The collection members has .*acme\/shop\/double \(2 times\)/),
    ]);
  });
});

/** A service with an application, and one request of it that has begun and waits for the rest of its body. */
async function serviceWithRequest() {
  const { MONGODB_URI, db } = await ownDatabase();
  const service = await start({ MONGODB_URI, LOG_LEVEL: 'trace' });
  await db.collection('applications').insertOne({ ...TENANT });
  const passwordhash = await hashPassword(PASSWORD);
  await db
    .collection('credentials')
    .insertOne({ username: 'ann', passwordhash, level: 'write', scopes: [TENANT] });
  const running = request(`${service.url}/acme/shop/api/v0.1/member`, {
    method: 'POST',
    auth: `ann:${PASSWORD}`,
    headers: { 'content-type': 'application/json', expect: '100-continue' },
  });
  running.flushHeaders();
  await once(running, 'continue');
  return { service, db, running };
}

async function finish(running: ClientRequest): Promise<{ status: number | undefined; body: string }> {
  const answered = once(running, 'response') as Promise<[IncomingMessage]>;
  running.end('{"accountnumber": "1", "email": "a@example.com"}');
  const [answer] = await answered;
  return { status: answer.statusCode, body: await text(answer) };
}

const refuses = (url: string | undefined) =>
  fetch(`${url}/health/live`).then(
    () => false,
    () => true,
  );

describe('On SIGTERM or SIGINT the service stops listening, finishes what runs, releases the lease and exits 0', () => {
  it.each(['SIGTERM', 'SIGINT'] as const)('%s', async (signal) => {
    const { service, db, running } = await serviceWithRequest();
    const authorization = `Basic ${btoa(`ann:${PASSWORD}`)}`;
    const events = await fetch(`${service.url}/acme/shop/api/v1/member/events`, {
      headers: { authorization },
    });
    const exited = service.stop(signal);
    await eventually(() => refuses(service.url));
    expect(await events.text()).toMatch(/^:\n\n(.*\n)*retry: \d+\n\n$/);
    const { status, body } = await finish(running);
    expect([status, body]).toEqual([201, expect.stringContaining('a@example.com')]);
    expect(await exited).toBe(0);
    expect(await db.collection('tidemark.leases').findOne()).toMatchObject({ expires: new Date(0) });
    expect(await db.collection('members').countDocuments()).toBe(1);

    const log = service.lines.join('\n');
    expect(log).toContain(': 1 request ends first, 10 s at most.');
    expect(log).toContain('/acme/shop/api/v0.1/member');
    for (const secret of [PASSWORD, btoa(`ann:${PASSWORD}`), '$argon2', 'a@example.com'])
      expect(log).not.toContain(secret);
  });

  it('also while it waits for the database, though the port listens at once', async () => {
    const nobody = createServer().listen(0, '127.0.0.1');
    await once(nobody, 'listening');
    const { port } = nobody.address() as AddressInfo;
    nobody.close();
    const service = spawn({ MONGODB_URI: `mongodb://127.0.0.1:${port}/tidemark` });
    await eventually(() => service.url !== undefined);
    expect((await fetch(`${service.url}/health/live`)).status).toBe(200);
    expect((await fetch(`${service.url}/health/ready`)).status).toBe(503);
    expect(await service.stop()).toBe(0);
    expect(service.lines.filter((line) => line.includes('"level":"error"'))).toEqual([]);
  });
});

it('a record that is never delivered is logged', async () => {
  const { MONGODB_URI, db } = await ownDatabase();
  const service = await start({ MONGODB_URI });
  await db.collection<{ _id: unknown }>('products').insertOne({ _id: 'no-object-id', ...TENANT });
  await service.prints('no-object-id');
  expect(service.lines.find((line) => line.includes('no-object-id'))).toContain('"level":"warn"');
  expect(await service.stop()).toBe(0);
});

it('the line of a request has its id, and what came of it', async () => {
  const { MONGODB_URI } = await ownDatabase();
  const service = await start({ MONGODB_URI, LOG_LEVEL: 'info' });
  await fetch(`${service.url}/acme/shop/api/v1/product/max`, { headers: { 'x-request-id': 'trace-42' } });
  await service.prints('trace-42');
  expect(JSON.parse(service.lines.find((line) => line.includes('trace-42')) ?? '')).toMatchObject({
    level: 'info',
    req: { id: 'trace-42', method: 'GET', url: '/acme/shop/api/v1/product/max' },
    res: { statusCode: 401 },
  });
  expect(await service.stop()).toBe(0);
});
