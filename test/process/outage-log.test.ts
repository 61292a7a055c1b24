import { mongo } from 'mongoose';
import { hashPassword } from '../../src/auth/index.js';
import { eventually } from '../support/eventually.js';
import { type OwnMongod, startOwn } from '../support/own-mongod.js';
import { freshDataDir, removeDataDir, ServiceProcess } from '../support/process.js';

jest.setTimeout(300_000);

const PASSWORD = 'correct horse battery staple';
const ROUNDS = 3;
const MOST_BYTES = 1024;

let mongod: OwnMongod;
let dataDir: string;
let service: ServiceProcess;

beforeAll(async () => {
  mongod = await startOwn();
  const client = new mongo.MongoClient(`${mongod.uri}?directConnection=true`);
  const tenant = { organizationid: 'acme', appid: 'shop' };
  await client.db().collection('applications').insertOne(tenant);
  const passwordhash = await hashPassword(PASSWORD);
  await client
    .db()
    .collection('credentials')
    .insertOne({ username: 'writer', passwordhash, level: 'write', scopes: [tenant] });
  await client.close();
  dataDir = await freshDataDir();
  const environment = { MONGODB_URI: `${mongod.uri}?replicaSet=own`, LOG_LEVEL: 'info', LOG_FORMAT: 'json' };
  service = await ServiceProcess.start({ dataDir, environment });
});
afterAll(async () => {
  await service?.stop();
  await removeDataDir(dataDir);
});

const ask = async (path: string, options: RequestInit = {}) => {
  const headers = {
    ...{ authorization: `Basic ${btoa(`writer:${PASSWORD}`)}`, 'content-type': 'application/json' },
  };
  const answer = await fetch(`${service.url}/acme/shop/api/${path}`, { ...options, headers });
  await answer.text();
  return answer.status;
};

const everything = () => [
  ask('v1/product/max'),
  ask('v1/product/default/updates?to=2999-01-01'),
  ask('v1/member/harddeletes?to=2999-01-01'),
  ask('v0.1/member', { method: 'POST', body: '{"accountnumber": "1", "email": "a@example.com"}' }),
];

it('an outage is one short line for each cause, however many requests fail of it', async () => {
  expect(await ask('v1/product/max')).toBe(200);
  await mongod.stop();
  const before = service.logged.length;
  await eventually(async () => (await ask('v1/product/max')) === 503);
  for (let round = 0; round < ROUNDS; round += 1)
    expect(await Promise.all(everything())).toEqual([503, 503, 503, 503]);
  const during = () => service.logged.slice(before);
  const isOfRequest = (line: string) => line.includes('"msg":"request ended"');
  await eventually(() => during().filter(isOfRequest).length > ROUNDS * everything.length);
  for (const line of during()) {
    expect(Buffer.byteLength(line)).toBeLessThanOrEqual(MOST_BYTES);
    expect(line).not.toMatch(/"stack"|topology|"servers"|clusterTime|errorResponse/i);
  }
  const causes = during()
    .filter((line) => !isOfRequest(line))
    .map((line) => {
      const { context, msg, err } = JSON.parse(line) as { context: string; msg: string; err?: Error };
      return [context, msg, err?.message.replace(/\d+/g, '')].join(' / ');
    });
  // The first request may still write into a socket that the server has ended, which is another cause.
  expect(causes.filter((cause) => cause.startsWith('Problem / '))).not.toEqual([]);
  expect(causes).toEqual([...new Set(causes)]);
});

it('a request before the first connection is a warning in words of ours, with its id', async () => {
  const early = ServiceProcess.spawn({
    dataDir,
    environment: { MONGODB_URI: 'mongodb://127.0.0.1:9/x', LOG_LEVEL: 'info', LOG_FORMAT: 'json' },
  });
  try {
    await early.prints('Tidemark listens');
    const answer = await fetch(`${early.url}/acme/shop/api/v1/product/max`, {
      headers: { authorization: `Basic ${btoa(`writer:${PASSWORD}`)}` },
    });
    const { type, requestId } = (await answer.json()) as { type: string; requestId: string };
    expect([answer.status, type]).toEqual([503, 'urn:tidemark:problem:database-away']);
    expect(answer.headers.get('retry-after')).toBe('2');
    await early.prints('request ended');
    const entries = early.logged.map((line) => JSON.parse(line) as { context?: string });
    expect(entries.filter(({ context }) => context === 'Problem')).toEqual([
      expect.objectContaining({
        level: 'warn',
        err: {
          type: 'NotConnectedError',
          message: 'The service has not connected to the database since its start',
        },
        requestId,
      }),
    ]);
    expect(early.logged.join('\n')).not.toMatch(/mongoose|bufferCommands/i);
  } finally {
    await early.stop('SIGKILL');
  }
});
