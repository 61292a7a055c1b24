import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { eventually, PASSWORD, type TestApplication, TestService } from '../support/index.js';

const LIMIT = 64 * 1024;
/** What the service may have taken of an endless body: the limit, and what it lets come in so that its answer is read. */
const MOST_BYTES = 3 * 1024 * 1024;
const PIECE = 'x'.repeat(64 * 1024);
const CHUNK = `${PIECE.length.toString(16)}\r\n${PIECE}\r\n`;

let service: TestService;
let app: TestApplication;
/** The service's ends of all connections, the newest last. */
const ends: Socket[] = [];

beforeAll(async () => {
  service = await TestService.start({ BODY_LIMIT: String(LIMIT) });
  service.app.getHttpServer().on('connection', (end: Socket) => ends.push(end));
  app = await service.application();
});
afterAll(() => service.stop());

interface Endless {
  method?: string;
  path?: string;
  user?: string | undefined;
  headers?: string[];
  /** What is sent again and again, for as long as the connection takes it. */
  piece?: string | Uint8Array;
}

/** Sends a request whose body never ends, until the service ends the connection; the head of its answer. */
async function endless({
  method = 'POST',
  path = 'api/v0.1/member',
  user,
  headers = [],
  piece = CHUNK,
}: Endless) {
  const { hostname, port } = new URL(service.url);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  const end = ends.at(-1)!;
  const login = user === undefined ? [] : [`Authorization: Basic ${btoa(`${user}:${PASSWORD}`)}`];
  const { organizationid, appid } = app.tenant;
  const target = path.startsWith('/') ? path : `/${organizationid}/${appid}/${path}`;
  const lines = [`${method} ${target} HTTP/1.1`, 'Host: x', ...login, ...headers];
  socket.write(`${lines.join('\r\n')}\r\n\r\n`);
  const feed = () => {
    while (!socket.destroyed && socket.write(piece));
  };
  socket.on('drain', feed);
  feed();
  let answer = '';
  socket.on('data', (data) => (answer += data.toString()));
  await eventually(() => end.destroyed);
  socket.destroy();
  const [head = ''] = answer.split('\r\n\r\n');
  return { head, status: Number(head.split(' ')[1]), taken: end.bytesRead };
}

const CHUNKED = 'Transfer-Encoding: chunked';
const JSON_TYPE = 'Content-Type: application/json';

describe('a body that never ends', () => {
  it.each<[string, number, () => Endless]>([
    ['over BODY_LIMIT', 413, () => ({ user: app.user('write'), headers: [JSON_TYPE, CHUNKED] })],
    [
      'that is packed',
      413,
      () => ({ user: app.user('write'), headers: [JSON_TYPE, CHUNKED, 'Content-Encoding: gzip'] }),
    ],
    ['of another type', 415, () => ({ user: app.user('write'), headers: [CHUNKED] })],
    ['without credentials', 401, () => ({ headers: [JSON_TYPE, CHUNKED] })],
    ['of level read', 403, () => ({ user: app.user('read'), headers: [JSON_TYPE, CHUNKED] })],
    ['to nowhere', 404, () => ({ path: 'nowhere', user: app.user('write'), headers: [JSON_TYPE, CHUNKED] })],
    [
      'of a GET',
      200,
      () => ({ method: 'GET', path: 'api/v1/product/max', user: app.user('read'), headers: [CHUNKED] }),
    ],
    [
      'of a GET without credentials',
      401,
      () => ({ method: 'GET', path: 'api/v1/product/max', headers: [CHUNKED] }),
    ],
    [
      'of a length that is told',
      413,
      () => ({ user: app.user('write'), headers: [JSON_TYPE, `Content-Length: ${10 ** 12}`], piece: PIECE }),
    ],
    [
      'of a length that is told, without credentials',
      401,
      () => ({ headers: [`Content-Length: ${10 ** 12}`], piece: PIECE }),
    ],
    ['of `/health/live`', 200, () => ({ method: 'GET', path: '/health/live', headers: [CHUNKED] })],
  ])(
    '%s is answered %d with `Connection: close`, is not read on, and ends with its connection',
    async (_what, status, request) => {
      const answer = await endless(request());
      expect(answer.head).toMatch(/^connection: close$/im);
      expect(answer.status).toBe(status);
      expect(answer.taken).toBeLessThan(MOST_BYTES);
    },
  );
});

describe('a packed body', () => {
  const post = (raw: Uint8Array) =>
    app.send('POST', 'api/v0.1/member', {
      raw,
      headers: { 'content-type': 'application/json', 'content-encoding': 'gzip' },
    });

  it('that unpacks beyond the limit is 413', async () => {
    const bomb = Uint8Array.from(gzipSync(Buffer.alloc(40 * LIMIT, ' ')));
    expect(bomb.length).toBeLessThan(LIMIT);
    expect((await post(bomb)).status).toBe(413);
  });

  it('that is cut off is 400', async () => {
    const whole = gzipSync('{"accountnumber": "1", "email": "ann@example.com"}');
    expect((await post(Uint8Array.from(whole.subarray(0, -9)))).status).toBe(400);
  });
});

it('a connection whose bodies were read to their ends goes on', async () => {
  const { hostname, port } = new URL(service.url);
  const socket = connect(Number(port), hostname);
  const body = '{"nick": 1}';
  const { organizationid, appid } = app.tenant;
  const request = [
    `POST /${organizationid}/${appid}/api/v0.1/member HTTP/1.1`,
    'Host: x',
    `Authorization: Basic ${btoa(`${app.user('write')}:${PASSWORD}`)}`,
    JSON_TYPE,
    `Content-Length: ${body.length}`,
  ].join('\r\n');
  let answers = '';
  socket.on('data', (data) => (answers += data.toString()));
  for (let count = 1; count <= 2; count += 1) {
    socket.write(`${request}\r\n\r\n${body}`);
    await eventually(() => answers.split('HTTP/1.1 400').length === count + 1);
  }
  expect(answers).not.toMatch(/^connection: close$/im);
  socket.destroy();
});

it('`Expect: 100-continue`: nobody is asked for a body before its right is decided', async () => {
  const { hostname, port } = new URL(service.url);
  const socket = connect(Number(port), hostname);
  const { organizationid, appid } = app.tenant;
  const ask = (user: string) =>
    [
      `POST /${organizationid}/${appid}/api/v0.1/member HTTP/1.1`,
      'Host: x',
      `Authorization: Basic ${btoa(`${user}:${PASSWORD}`)}`,
      JSON_TYPE,
      'Expect: 100-continue',
      'Content-Length: 2',
    ].join('\r\n');
  let answers = '';
  socket.on('data', (data) => (answers += data.toString()));
  socket.write(`${ask(app.user('write'))}\r\n\r\n`);
  await eventually(() => answers.includes('HTTP/1.1 100 Continue'));
  socket.write('{}');
  await eventually(() => answers.includes('HTTP/1.1 400'));
  answers = '';
  socket.write(`${ask(app.user('read'))}\r\n\r\n`);
  await eventually(() => answers !== '');
  expect(answers).toMatch(/^HTTP\/1\.1 403/);
  socket.destroy();
});

it('a client of HTTP/1.0 is not asked for its body, because it would take that for the answer', async () => {
  const { hostname, port } = new URL(service.url);
  const { organizationid, appid } = app.tenant;
  const socket = connect(Number(port), hostname);
  const answer = text(socket);
  const head = [
    `POST /${organizationid}/${appid}/api/v0.1/member HTTP/1.0`,
    `Authorization: Basic ${btoa(`${app.user('write')}:${PASSWORD}`)}`,
    JSON_TYPE,
    'Expect: 100-continue',
    'Content-Length: 2',
  ];
  socket.write(`${head.join('\r\n')}\r\n\r\n{}`);
  expect(await answer).toMatch(/^HTTP\/1\.1 400 /);
});
