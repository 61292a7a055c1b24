import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { PASSWORD, type TestApplication, TestService } from '../support/index.js';

const RECEIVE_MS = 1000;

let service: TestService;
let app: TestApplication;

beforeAll(async () => {
  service = await TestService.start({ RECEIVE_MS: String(RECEIVE_MS) });
  app = await service.application();
});
afterAll(() => service.stop());

async function open(): Promise<Socket> {
  const { port, hostname } = new URL(service.url);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  return socket;
}

/** All that comes on a connection until the service ends it. */
async function allOf(sent: string): Promise<string> {
  const socket = await open();
  let answer = '';
  socket.on('data', (piece: Buffer) => (answer += piece.toString()));
  socket.write(sent);
  await once(socket, 'close');
  return answer;
}

const HEAD = 'HTTP/1.1\r\nHost: x\r\n';
const HALF = 'Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n{"username"';
const CHUNKED = 'Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n';
const loginOf = (user: string) => `Authorization: Basic ${btoa(`${user}:${PASSWORD}`)}\r\n`;
const inApp = (path: string) => `/${app.organizationid}/${app.appid}/api/${path}`;

describe('what does not arrive within RECEIVE_MS ends with 408 and its connection', () => {
  it.each([
    ['a connection that sends nothing', () => ''],
    ['half of the headers', () => `GET /health/live ${HEAD}X-Half: `],
    ['half of a body without a login', () => `POST /admin/v1/session ${HEAD}${HALF}`],
    ['half of a body in pieces', () => `POST /admin/v1/session ${HEAD}${CHUNKED}5\r\n{"use`],
    [
      'a body that is announced',
      () => `POST /admin/v1/session ${HEAD}Expect: 100-continue\r\n${HALF.replace('{"username"', '')}`,
    ],
    [
      'half of a body with a login',
      () => `POST ${inApp('v0.1/member')} ${HEAD}${loginOf(app.user('write'))}${HALF}`,
    ],
  ])('%s', async (_what, sent) => {
    const answer = await allOf(sent());
    expect(answer.replace('HTTP/1.1 100 Continue\r\n\r\n', '')).toMatch(/^HTTP\/1\.1 408 /);
    expect(answer).toContain('"type":"urn:tidemark:problem:request-timeout"');
  });
});

it('no second answer is written into one that has begun', async () => {
  const login = loginOf(app.user('read'));
  const answer = await allOf(`GET ${inApp('v1/product/events')} ${HEAD}${login}Content-Length: 9\r\n\r\n{`);
  expect(answer).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
  expect(answer).not.toContain('HTTP/1.1 408');
});

it('a connection that is idle between two requests is kept for longer', async () => {
  const socket = await open();
  for (let count = 0; count < 2; count += 1) {
    socket.write(`GET /health/live ${HEAD}\r\n`);
    const [answer] = (await once(socket, 'data')) as [Buffer];
    expect(answer.toString()).toMatch(/^HTTP\/1\.1 200 /);
    await allOf(`GET /health/live ${HEAD}X-Half: `);
  }
  socket.destroy();
});

it('an idle connection is kept for longer than a load balancer keeps it', async () => {
  const socket = await open();
  socket.write(`GET /health/live ${HEAD}\r\n`);
  const [answer] = (await once(socket, 'data')) as [Buffer];
  socket.destroy();
  expect(answer.toString()).toMatch(/^Keep-Alive: timeout=75\r$/m);
});

it('an idle connection is closed as soon as the service stops', async () => {
  const other = await service.another({ KEEP_ALIVE_MS: String(600_000) });
  const { port, hostname } = new URL(other.url);
  const socket = connect(Number(port), hostname);
  socket.write(`GET /health/live ${HEAD}\r\n`);
  await once(socket, 'data');
  await Promise.all([once(socket, 'close'), other.leave()]);
});

describe('without credentials, 401 comes before the body: not a byte of it is waited for', () => {
  it.each([
    ['POST', () => inApp('v0.1/member')],
    ['PATCH', () => inApp('v0.1/member/x')],
    ['POST', () => '/admin/v1/applications'],
    ['PUT', () => '/admin/v1/applications/a/b/services/product/c'],
    ['POST', () => '/admin/v1/configuration/apply'],
    ['DELETE', () => inApp('v1/product/max')],
  ])('%s', async (method, path) => {
    for (const expected of ['', 'Expect: 100-continue\r\n'])
      expect(await allOf(`${method} ${path()} ${HEAD}${expected}${HALF}`)).toMatch(/^HTTP\/1\.1 401 /);
  });
});
