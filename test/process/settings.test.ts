import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, writeFile } from 'node:fs/promises';
import { type IncomingMessage, request } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { RENEWED } from '../support/certificates.js';
import { dropDatabase, freshDatabase, type TestDatabase } from '../support/database.js';
import { TLS_IDENTITY } from '../support/tls-identity.js';
import { eventually } from '../support/eventually.js';
import { freshDataDir, removeDataDir, ServiceProcess } from '../support/process.js';

jest.setTimeout(300_000);

/** Of a configuration that is wrong. */
const WRONG_SETTINGS = 78;

let dataDir: string;
let database: TestDatabase;
let spawned: ServiceProcess[] = [];

beforeAll(async () => {
  database = await freshDatabase();
});
afterAll(() => dropDatabase(database));
beforeEach(async () => {
  dataDir = await freshDataDir();
});
afterEach(async () => {
  await Promise.all(spawned.map((service) => service.stop('SIGKILL')));
  spawned = [];
  await removeDataDir(dataDir);
});

function start(environment: Record<string, string>): ServiceProcess {
  const service = ServiceProcess.spawn({ dataDir, environment });
  spawned.push(service);
  return service;
}

/** A command, with what it has printed and its exit code. */
async function admin(words: string[], environment: Record<string, string>) {
  const env = { ...process.env, MONGODB_URI: '', DATA_DIR: dataDir, ...environment };
  const child = spawn(process.execPath, ['dist/cli.js', ...words], {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [[code], output, errors] = await Promise.all([
    once(child, 'exit'),
    text(child.stdout),
    text(child.stderr),
  ]);
  return { code: code as number, output, errors };
}

async function written(content: string, name = 'uri'): Promise<string> {
  const path = join(dataDir, name);
  await writeFile(path, content);
  return path;
}

describe('`MONGODB_URI_FILE`', () => {
  it('is read by the service and by the commands', async () => {
    const MONGODB_URI_FILE = await written(`${database.uri}\n`);
    const service = start({ MONGODB_URI_FILE });
    await service.prints('Tidemark listens');
    expect((await fetch(`${service.url}/health/live`)).status).toBe(200);
    const { code, output, errors } = await admin(['status', '--json'], { MONGODB_URI_FILE });
    expect([code, errors]).toEqual([0, '']);
    expect(JSON.parse(output)).toHaveProperty('watcher');
    expect(await service.stop()).toBe(0);
  });

  it('that is wrong ends the service with one line and exit code 78, with nothing begun; a command with 1', async () => {
    const MONGODB_URI_FILE = await written('');
    const service = start({ MONGODB_URI_FILE, LOG_LEVEL: 'info' });
    const sentence = `MONGODB_URI_FILE "${MONGODB_URI_FILE}" is empty. A valid value: the path of a file that holds the value of MONGODB_URI.`;
    expect(await service.exited).toBe(WRONG_SETTINGS);
    expect(service.lines).toEqual([sentence]);
    expect(await readdir(dataDir)).toEqual(['uri']);
    expect(await admin(['status'], { MONGODB_URI_FILE })).toEqual({
      code: 1,
      output: '',
      errors: `${sentence}\n`,
    });
  });
});

it('a file of the connection string that is missing ends the service with exit code 78, and a command with 1', async () => {
  const MONGODB_URI = 'mongodb://127.0.0.1:1/x?tls=true&tlsCAFile=/none/ca.pem';
  const sentence =
    'tlsCAFile in MONGODB_URI "/none/ca.pem" cannot be read: there is no such file. A valid value: the path of a PEM ' +
    'file with the certificates of those who sign the certificate of the database.';
  const service = start({ MONGODB_URI });
  expect(await service.exited).toBe(WRONG_SETTINGS);
  expect(service.lines).toEqual([sentence]);
  expect(await admin(['status'], { MONGODB_URI })).toEqual({ code: 1, output: '', errors: `${sentence}\n` });
});

describe('TLS_CERT, TLS_KEY and METRICS_PORT that are wrong end the start with one line, before a database is begun', () => {
  it('a key of another certificate, with exit code 78', async () => {
    const TLS_CERT = await written(TLS_IDENTITY.cert, 'cert');
    const TLS_KEY = await written(RENEWED.key, 'key');
    const service = start({ TLS_CERT, TLS_KEY, LOG_LEVEL: 'info' });
    expect(await service.exited).toBe(WRONG_SETTINGS);
    expect(service.lines).toEqual([
      expect.stringMatching(
        /^TLS_KEY "[^"]+" does not belong to the first certificate in TLS_CERT "[^"]+"\. A valid value: /,
      ),
    ]);
    expect(await readdir(dataDir)).toEqual(['cert', 'key']);
  });

  it('METRICS_PORT that is taken, with exit code 1', async () => {
    const holder = createServer().listen(0, '127.0.0.1');
    await once(holder, 'listening');
    const { port } = holder.address() as AddressInfo;
    const service = start({ METRICS_PORT: String(port), LOG_LEVEL: 'info' });
    expect(await service.exited).toBe(1);
    expect(service.lines).toEqual([
      expect.stringMatching(
        /^HOST "127\.0\.0\.1" with METRICS_PORT \d+ cannot be used: .+ Set METRICS_PORT to /,
      ),
    ]);
    expect(await readdir(dataDir)).toEqual([]);
    holder.close();
  });
});

it('on a stop METRICS_PORT says 503 for readiness and 200 for liveness, until the last request has ended', async () => {
  const service = start({ MONGODB_URI: database.uri, METRICS_PORT: '0' });
  await service.prints('Health and metrics are at');
  const headers = { 'content-type': 'application/json', expect: '100-continue' };
  const running = request(`${service.url}/admin/v1/session`, { method: 'POST', headers });
  running.flushHeaders();
  await once(running, 'continue');
  const stopped = service.stop();
  const ready = () => fetch(`${service.stateUrl}/health/ready`);
  const state = async () => (await (await ready()).json()) as { status: string };
  await eventually(async () => (await state()).status === 'shutting_down');
  expect((await ready()).status).toBe(503);
  expect((await fetch(`${service.stateUrl}/health/live`)).status).toBe(200);
  expect((await fetch(`${service.stateUrl}/metrics`)).status).toBe(200);
  await expect(fetch(`${service.url}/docs`)).rejects.toThrow('fetch failed');
  const answered = once(running, 'response') as Promise<[IncomingMessage]>;
  running.end('{}');
  expect((await answered)[0].statusCode).toBe(400);
  expect(await stopped).toBe(0);
  await expect(fetch(`${service.stateUrl}/health/live`)).rejects.toThrow('fetch failed');
});
