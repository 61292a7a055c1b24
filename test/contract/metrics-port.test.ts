import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { eventually, expectProblem, send, TestService } from '../support/index.js';
import { Readiness } from '../../src/health/index.js';
import { ConsumerNotes } from '../../src/replication/feed/index.js';

/** Of which three quarters may be open. */
const MOST = 64;
const OWN_STATE = ['/health/live', '/health/ready', '/metrics'];

let service: TestService;
let sockets: Socket[] = [];

beforeAll(async () => {
  service = await TestService.start({ METRICS_PORT: '0', CORS_ORIGINS: 'https://app.example.com' });
});
afterEach(() => {
  sockets.forEach((socket) => socket.destroy());
  sockets = [];
});
afterAll(() => service.stop());

const main = (path: string, method = 'GET') => send(`${service.url}${path}`, method, {});
const apart = (path: string, method = 'GET') => send(`${service.stateUrl}${path}`, method, {});

async function openApart(): Promise<Socket> {
  const { port, hostname } = new URL(service.stateUrl);
  const socket = connect(Number(port), hostname);
  sockets.push(socket.on('error', () => undefined).resume());
  await once(socket, 'connect');
  return socket;
}

it('names the consumers that are furthest behind, once a minute', async () => {
  const app = await service.application();
  await app.product({ id: 'earlier' });
  await app.feed('product').page();
  await app.product({ id: 'later' });
  await app.max('product');
  await service.app.get(ConsumerNotes, { strict: false }).flush();
  const { text } = await apart('/metrics');
  const of = `organizationid="${app.organizationid}",appid="${app.appid}",kind="product",service="default"`;
  const line = text.split('\n').find((one) => one.startsWith('tidemark_consumer_lag_seconds{'));
  expect(line).toMatch(/^tidemark_consumer_lag_seconds\{.*\} [0-9.]+$/);
  for (const label of of.split(',')) expect(line).toContain(label);
  expect(line).toContain(`username="${app.user('read')}"`);
  expect(line).toContain('state="behind"');
  expect(text).toContain('tidemark_consumers{state="behind"} 1\n');
  expect(text).toContain('tidemark_consumers{state="stalled"} 0\n');
  expect(text).toMatch(/^tidemark_consumers_lag_seconds [0-9.]*[1-9][0-9.]*$/m);
});

describe('With `METRICS_PORT`, `/health/live`, `/health/ready` and `/metrics` are served on that port alone', () => {
  it.each(OWN_STATE)('%s is there', async (path) => {
    const { status, headers } = await apart(path);
    expect([status, headers.has('x-request-id'), headers.has('strict-transport-security')]).toEqual([
      200,
      true,
      false,
    ]);
  });

  it.each(OWN_STATE)('on the main port %s is 404, as an unknown path', async (path) => {
    for (const method of ['GET', 'POST'])
      expectProblem(await send(`${service.url}${path}`, method, {}), 404, 'not-found');
  });

  it('and nothing else is served there', async () => {
    const app = await service.application();
    const feed = `/${app.organizationid}/${app.appid}/api/v1/product/max`;
    for (const path of [
      feed,
      '/admin/v1/status',
      '/console',
      '/docs',
      '/openapi.json',
      '/nothing',
      '/metrics/',
      '/METRICS',
    ])
      expectProblem(await apart(path), 404, 'not-found');
    expect((await app.get('product/max')).status).toBe(200);
    expectProblem(await apart('/metrics', 'DELETE'), 405, 'method-not-allowed');
  });

  it('an absolute target is treated as its path', async () => {
    const socket = await openApart();
    socket.write('GET http://elsewhere/openapi.json HTTP/1.1\r\nHost: x\r\n\r\n');
    const [answer] = (await once(socket, 'data')) as [Buffer];
    expect(String(answer)).toMatch(/^HTTP\/1\.1 404 /);
  });

  it('the OpenAPI document of the main port has the paths of the main port', async () => {
    const { json } = await main('/openapi.json');
    const paths = Object.keys((json as { paths: object }).paths);
    expect(paths.filter((path) => /health|metrics/.test(path))).toEqual([]);
    expect(paths.length).toBeGreaterThan(10);
  });
});

describe('it is bounded like the main port', () => {
  it('what is no request is answered 400', async () => {
    const socket = await openApart();
    socket.write('nonsense\r\n\r\n');
    const [answer] = (await once(socket, 'data')) as [Buffer];
    expect(String(answer)).toMatch(/^HTTP\/1\.1 400 [^]*What was sent is not a valid HTTP/);
  });

  it('connections that ask nothing keep no probe out', async () => {
    for (let count = 0; count < 2 * MOST; count += 1) await openApart();
    expect((await apart('/health/live')).status).toBe(200);
    await eventually(() => sockets.filter(({ closed }) => !closed).length <= (MOST * 3) / 4);
  });
});

it('an instance that begins to stop is not ready, and alive', async () => {
  const other = await service.another({ METRICS_PORT: '0' });
  try {
    const ready = () => send(`${other.stateUrl}/health/ready`, 'GET', {});
    expect((await ready()).status).toBe(200);
    other.app.get(Readiness, { strict: false }).stop();
    const { status, json } = await ready();
    expect([status, json]).toEqual([503, expect.objectContaining({ status: 'shutting_down' })]);
    expect((await send(`${other.stateUrl}/health/live`, 'GET', {})).status).toBe(200);
  } finally {
    await other.leave();
  }
  await expect(fetch(`${other.stateUrl}/health/live`)).rejects.toThrow('fetch failed');
});
