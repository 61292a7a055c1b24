import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { connect, type Socket } from 'node:net';
import { eventually, PASSWORD, type TestApplication, TestService } from '../support/index.js';
import { EventClient } from './event-client.js';

const MOST = 12;
const OF_CREDENTIAL = 1000;
const AT_ONCE = 50;

let service: TestService;
let app: TestApplication;
const sockets: Socket[] = [];

beforeAll(async () => {
  service = await TestService.start();
  app = await service.application();
});
afterEach(() => sockets.splice(0).forEach((socket) => socket.destroy()));
afterAll(() => service.stop());

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
  socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n${authorization}\r\n`);
  const [piece] = (await once(socket, 'data')) as [Buffer];
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
    await small.leave();
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
