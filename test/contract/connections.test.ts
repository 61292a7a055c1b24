import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { connect, type Socket } from 'node:net';
import { Authenticator } from '../../src/auth/index.js';
import { eventually, PASSWORD, type TestApplication, TestService } from '../support/index.js';
import { EventClient } from './event-client.js';
import { Flood } from './flood.js';

const MOST = 12;
/** Of those with a login. */
const KEPT = 9;
const MOST_OF_FLOODED = 200;
/** More than strangers may have, by so little that a new connection has the time for its request. */
const FLOOD = 165;
const OF_CREDENTIAL = 1000;
const AT_ONCE = 50;

let service: TestService;
let app: TestApplication;
const sockets: Socket[] = [];

beforeAll(async () => {
  service = await TestService.start();
  app = await service.application();
});
afterAll(() => service.stop());

/** Ends an instance after its clients. Node 20 does not count a connection without a request as idle, and waits for it. */
async function end(of: TestService): Promise<void> {
  for (const socket of sockets.splice(0)) socket.destroy();
  await of.leave();
}

/** How many connections the server has, which its own count says. */
const counted = (of: TestService) =>
  new Promise<number>((resolve, reject) =>
    of.app
      .getHttpServer()
      .getConnections((error: Error | null, count: number) => (error ? reject(error) : resolve(count))),
  );

async function open(of: TestService): Promise<Socket> {
  const { port, hostname } = new URL(of.url);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => undefined).resume();
  sockets.push(socket);
  await once(socket, 'connect');
  return socket;
}

/** The first line of an answer on a connection. */
async function ask(socket: Socket, path: string, login = ''): Promise<string> {
  const authorization = login === '' ? '' : `Authorization: Basic ${btoa(login)}\r\n`;
  const over = new AbortController();
  const closed = once(socket, 'close', over).then(() => {
    throw new Error(`The connection was closed instead of an answer to ${path}.`);
  });
  const answer = once(socket, 'data', over) as Promise<[Buffer]>;
  socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n${authorization}\r\n`);
  const [piece] = await Promise.race([answer, closed]);
  for (const late of [answer, closed]) late.catch(() => undefined);
  over.abort();
  return piece.toString().split('\r\n')[0]!;
}

it('idle connections without a login keep nobody out, and close none with a login', async () => {
  const small = await service.another({ MAX_CONNECTIONS: String(MOST) });
  try {
    const path = `/${app.organizationid}/${app.appid}/api/v1/product/max`;
    const login = `${app.user('read')}:${PASSWORD}`;
    const member = await open(small);
    expect(await ask(member, path, login)).toBe('HTTP/1.1 200 OK');
    for (let count = 0; count < 5 * MOST; count += 1) await open(small);
    expect(await ask(await open(small), '/health/live')).toBe('HTTP/1.1 200 OK');
    expect(await ask(await open(small), path, login)).toBe('HTTP/1.1 200 OK');
    expect(await ask(member, path, login)).toBe('HTTP/1.1 200 OK');
    expect(await counted(small)).toBeLessThanOrEqual(MOST);
  } finally {
    await end(small);
  }
});

const JSON_BODY = 'Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n{"username"';
const SESSION = 'POST /admin/v1/session HTTP/1.1\r\nHost: x\r\n';
const PAGE = 'GET /docs/swagger-ui-bundle.js HTTP/1.1\r\nHost: x\r\n\r\n';

it.each([
  ['half of the headers', 'GET /health/live HTTP/1.1\r\nHost: x\r\nX-Half: '],
  ['half of a body', `${SESSION}${JSON_BODY}`],
  ['half of a body for a login', `POST /admin/v1/applications HTTP/1.1\r\nHost: x\r\n${JSON_BODY}`],
  [
    'the announcement of a body',
    `${SESSION}Expect: 100-continue\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n`,
  ],
  ['a request whose answer they do not read', PAGE],
  ['requests in a row whose answers they do not read', PAGE.repeat(20)],
  [
    'a request for another protocol',
    'GET /health/live HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n',
  ],
  ['a CONNECT', 'CONNECT x:443 HTTP/1.1\r\nHost: x:443\r\n\r\n'],
  ['the beginning of TLS', '\u0016\u0003\u0001'],
])('connections without a login that have sent %s keep nobody out', async (_what, sent) => {
  const small = await service.another({ MAX_CONNECTIONS: String(MOST_OF_FLOODED) });
  const flood = new Flood(small, sent);
  try {
    const path = `/${app.organizationid}/${app.appid}/api/v1/product/max`;
    const login = `${app.user('read')}:${PASSWORD}`;
    const member = await open(small);
    expect(await ask(member, path, login)).toBe('HTTP/1.1 200 OK');
    await flood.begin(FLOOD);
    for (let round = 0; round < 20; round += 1) {
      expect(await ask(await open(small), '/health/live')).toBe('HTTP/1.1 200 OK');
      expect(await ask(await open(small), path, login)).toBe('HTTP/1.1 200 OK');
      expect(await ask(member, path, login)).toBe('HTTP/1.1 200 OK');
    }
    expect(flood.replaced).toBeGreaterThan(0);
    expect(await counted(small)).toBeLessThanOrEqual(MOST_OF_FLOODED);
  } finally {
    flood.end();
    await end(small);
  }
});

it('a connection whose login is being compared is kept, however many strangers come', async () => {
  const small = await service.another({ MAX_CONNECTIONS: String(MOST) });
  try {
    const authenticator = small.app.get(Authenticator, { strict: false });
    const identify = authenticator.identify.bind(authenticator);
    jest.spyOn(authenticator, 'identify').mockImplementation(async (...login) => {
      for (let count = 0; count < 3 * MOST; count += 1) await open(small);
      return identify(...login);
    });
    const path = `/${app.organizationid}/${app.appid}/api/v1/product/max`;
    expect(await ask(await open(small), path, `${app.user('read')}:${PASSWORD}`)).toBe('HTTP/1.1 200 OK');
  } finally {
    await end(small);
  }
});

it('idle connections with a login leave room for others', async () => {
  const small = await service.another({ MAX_CONNECTIONS: String(MOST) });
  try {
    const path = `/${app.organizationid}/${app.appid}/api/v1/product/max`;
    const login = `${app.user('read')}:${PASSWORD}`;
    const members: Socket[] = [];
    for (let count = 0; count < 2 * MOST; count += 1) {
      members.push(await open(small));
      expect(await ask(members.at(-1)!, path, login)).toBe('HTTP/1.1 200 OK');
    }
    await eventually(() => members.filter(({ destroyed }) => !destroyed).length === KEPT);
    expect(members.slice(-KEPT).every(({ destroyed }) => !destroyed)).toBe(true);
    for (let count = 0; count < 2 * MOST; count += 1) await open(small);
    expect(await ask(await open(small), '/health/live')).toBe('HTTP/1.1 200 OK');
    for (const member of members.slice(-KEPT)) expect(await ask(member, path, login)).toBe('HTTP/1.1 200 OK');
  } finally {
    await end(small);
  }
});

it('429 `connections-busy` where streams of this credential are on a quarter of the connections; others are let in', async () => {
  const small = await service.another({ MAX_CONNECTIONS: String(MOST) });
  try {
    const root = `/${app.organizationid}/${app.appid}/api/v1/product`;
    const login = `${app.user('read')}:${PASSWORD}`;
    for (let count = 0; count < MOST / 4; count += 1)
      expect(await ask(await open(small), `${root}/events`, login)).toBe('HTTP/1.1 200 OK');
    for (let count = 0; count < MOST; count += 1) {
      const next = await open(small);
      expect(await ask(next, `${root}/events`, login)).toBe('HTTP/1.1 429 Too Many Requests');
      await eventually(() => next.destroyed);
    }
    expect(await ask(await open(small), `${root}/max`, `${app.user('write')}:${PASSWORD}`)).toBe(
      'HTTP/1.1 200 OK',
    );
    const refused = await fetch(`${small.url}${root}/max`, {
      headers: { Authorization: `Basic ${btoa(login)}` },
    });
    expect([refused.status, refused.headers.get('retry-after'), refused.headers.get('connection')]).toEqual([
      429,
      '2',
      'close',
    ]);
    expect(await refused.json()).toMatchObject({ type: 'urn:tidemark:problem:connections-busy' });
  } finally {
    await end(small);
  }
});

it('or on as many as `CREDENTIAL_CONNECTIONS` says', async () => {
  const most = 5;
  const small = await service.another({
    ...{ MAX_CONNECTIONS: String(MOST), CREDENTIAL_CONNECTIONS: String(most) },
  });
  try {
    const root = `/${app.organizationid}/${app.appid}/api/v1/product`;
    const login = `${app.user('read')}:${PASSWORD}`;
    for (let count = 0; count < most; count += 1)
      expect(await ask(await open(small), `${root}/events`, login)).toBe('HTTP/1.1 200 OK');
    const refused = await fetch(`${small.url}${root}/max`, {
      headers: { Authorization: `Basic ${btoa(login)}` },
    });
    expect(await refused.json()).toMatchObject({ type: 'urn:tidemark:problem:connections-busy' });
  } finally {
    await end(small);
  }
});

it('answers that are not read take no files', async () => {
  const small = await service.another();
  const flood = new Flood(small, PAGE.repeat(20));
  try {
    const before = readdirSync('/proc/self/fd').length;
    await flood.begin(FLOOD);
    expect(await ask(await open(small), '/health/live')).toBe('HTTP/1.1 200 OK');
    expect(readdirSync('/proc/self/fd').length).toBeLessThan(before + 2 * FLOOD + 100);
  } finally {
    flood.end();
    await end(small);
  }
});

/** Opens streams until one is refused; a busy machine may have answered some with 503 before. */
async function firstRefused(listen: () => Promise<IncomingMessage>): Promise<IncomingMessage> {
  for (let opened = 0; opened < 2 * OF_CREDENTIAL; opened += AT_ONCE) {
    const answers = await Promise.all(Array.from({ length: AT_ONCE }, listen));
    const refused = answers.find(({ statusCode }) => statusCode === 429);
    if (refused !== undefined) return refused;
  }
  throw new Error('No stream was refused.');
}

it('429 `streams-busy` where 1,000 streams are of this credential; others are let in, and it is again when one has left', async () => {
  const clients: EventClient[] = [];
  const listen = async (user: string) => {
    const client = await EventClient.open(app, 'product', { user });
    clients.push(client);
    return client.answer;
  };
  try {
    const refused = await firstRefused(() => listen(app.user('read')));
    expect([refused.statusCode, refused.headers['retry-after']]).toEqual([429, '2']);
    await eventually(() => clients.filter(({ isStream }) => isStream).length === OF_CREDENTIAL);
    expect((await listen(app.user('write'))).statusCode).toBe(200);
    clients[0]!.leave();
    await eventually(async () => (await listen(app.user('read'))).statusCode === 200);
  } finally {
    for (const client of clients) client.leave();
  }
});
