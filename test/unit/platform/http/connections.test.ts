import { once } from 'node:events';
import { createServer, type RequestListener, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, createServer as createFront, type Socket } from 'node:net';
import { Server as SecureServer, connect as connectSecurely } from 'node:tls';
import {
  Connections,
  createSecureServer,
  type Problem,
  takeConnection,
} from '../../../../src/platform/http/index.js';
import { eventually } from '../../../support/index.js';
import { TLS_IDENTITY } from '../../../support/tls-identity.js';

let server: Server;
let told: string[];
let opened: number;
/** Answers that have begun and do not end. */
let streams: ServerResponse[];
const sockets: Socket[] = [];

const serverOf = (isSecure: boolean, listener: RequestListener): Server =>
  isSecure ? createSecureServer(TLS_IDENTITY, listener) : createServer(listener);

/** A server with so many connections. It lets in a request for /member…, and answers one for /…-stream without an end. */
async function serve(most: number, isSecure: boolean): Promise<void> {
  told = [];
  opened = 0;
  streams = [];
  server = serverOf(isSecure, (request, response) => {
    const [, path] = request.url!.split('/');
    try {
      if (path!.startsWith('member')) takeConnection(request, response, path!.split('-')[0]!);
    } catch (error) {
      const { status, extras } = error as Problem;
      return void response.writeHead(status, extras.headers).end();
    }
    if (!path!.endsWith('stream')) return void response.end('ok');
    streams.push(response);
    response.write('begun');
  });
  new Connections(most, (line) => told.push(line)).watch(server);
  server.on('connection', () => (opened += 1));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
}

afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  server.closeAllConnections();
  server.close();
  await once(server, 'close');
});

/** A connection that the server has seen. */
async function open(): Promise<Socket> {
  const before = opened;
  const { port } = server.address() as AddressInfo;
  const to = { port, host: '127.0.0.1' };
  const socket =
    server instanceof SecureServer
      ? connectSecurely({ ...to, servername: 'feeds.example', ca: TLS_IDENTITY.cert })
      : connect(to);
  socket.on('error', () => undefined).resume();
  sockets.push(socket);
  await eventually(() => opened > before);
  return socket;
}

async function ask(socket: Socket, path: string): Promise<Socket> {
  socket.write(`GET /${path} HTTP/1.1\r\nHost: x\r\n\r\n`);
  await once(socket, 'data');
  return socket;
}

async function many(count: number, path?: string): Promise<Socket[]> {
  const all: Socket[] = [];
  for (let n = 0; n < count; n += 1) {
    const socket = await open();
    all.push(path === undefined ? socket : await ask(socket, path));
  }
  return all;
}

const closed = (all: Socket[]) => all.map(({ closed: isClosed }) => isClosed);
const openOnes = (all: Socket[]) => all.filter(({ closed: isClosed }) => !isClosed).length;

it('what a connection has sent is read before others that are accepted in the same turn close it', async () => {
  await serve(8, false);
  const accepted: Socket[] = [];
  const front = createFront({ pauseOnConnect: true }, (socket) => accepted.push(socket)).listen(
    0,
    '127.0.0.1',
  );
  await once(front, 'listening');
  const { port } = front.address() as AddressInfo;
  const together = Array.from({ length: 100 }, () => connect(port, '127.0.0.1').on('error', () => undefined));
  sockets.push(...together);
  const [first] = together as [Socket, ...Socket[]];
  first.write('GET /health HTTP/1.1\r\nHost: x\r\n\r\n');
  await eventually(() => accepted.length === together.length);
  const isFirst = ({ remotePort }: Socket) => remotePort === first.localPort;
  const answer = Promise.race([once(first, 'data'), once(first, 'close')]);
  for (const socket of [...accepted.filter(isFirst), ...accepted.filter((one) => !isFirst(one))]) {
    server.emit('connection', socket);
    socket.resume();
  }
  expect(String(((await answer) as unknown[])[0])).toContain('200 OK');
  front.close();
});

describe.each([
  ['HTTP', false],
  ['HTTPS', true],
])('over %s', (_what, isSecure) => {
  const begin = (most: number) => serve(most, isSecure);

  it('connections without a login have three quarters, and of those that have sent no request the oldest is closed', async () => {
    await begin(8);
    const idle = await many(6);
    await ask(idle[0]!, 'health');
    expect(told).toEqual([]);
    const late = await many(2, 'health');
    await eventually(() => idle[2]!.closed);
    expect(closed(idle)).toEqual([false, true, true, false, false, false]);
    expect(closed(late)).toEqual([false, false]);
  });

  it('a request under way is not closed for connections that send none, and those are not closed for requests', async () => {
    await begin(8);
    const busy = await many(2, 'stream');
    const silent = await many(30);
    expect(closed(busy)).toEqual([false, false]);
    await eventually(() => openOnes(silent) === 4);
    const asking = await many(30, 'stream');
    expect(openOnes(silent)).toBeGreaterThanOrEqual(2);
    await eventually(() => openOnes(asking) <= 4);
  });

  it('a login has requests under way on a quarter of the connections; the next one is refused, and its connection ends', async () => {
    await begin(16);
    const streams4 = await many(4, 'memberA-stream');
    const [fifth] = await many(1);
    fifth!.write('GET /memberA HTTP/1.1\r\nHost: x\r\n\r\n');
    const [answer] = (await once(fifth!, 'data')) as [Buffer];
    expect(String(answer)).toContain('429 Too Many Requests');
    expect(String(answer)).toContain('Retry-After: 2');
    await eventually(() => fifth!.closed);
    await many(4, 'memberB-stream');
    expect(closed(streams4)).not.toContain(true);
    streams4[0]!.destroy();
    await eventually(() => streams.some(({ destroyed }) => destroyed));
    await many(1, 'memberA-stream');
  });

  it('several requests of a login on one connection take one, and idle connections none', async () => {
    await begin(16);
    await many(10, 'memberA');
    const [pipelined] = await many(1, 'memberA-stream');
    for (let count = 0; count < 8; count += 1) pipelined!.write('GET /memberA HTTP/1.1\r\nHost: x\r\n\r\n');
    const more = await many(3, 'memberA-stream');
    expect(closed([pipelined!, ...more])).not.toContain(true);
  });

  it('answers that are not read do not keep an idle connection with a login from making way', async () => {
    await begin(4);
    const members = await many(3, 'member');
    for (const member of members) await ask(member, 'stream');
    const next = await ask(await open(), 'member');
    await eventually(() => members[0]!.closed);
    expect(closed([...members, next])).toEqual([true, false, false, false]);
  });

  it('however many strangers come, connections with a login stay, and the next stranger is answered', async () => {
    await begin(8);
    const members = await many(2, 'member');
    const strangers = await many(40);
    await ask(await open(), 'health');
    await eventually(() => openOnes(strangers) <= 5);
    for (const member of members) await ask(member, 'member');
  });

  it('a stream that a login has opened counts as one with a login while it lasts', async () => {
    await begin(8);
    const listeners = await many(2, 'member-stream');
    const strangers = await many(20);
    await ask(await open(), 'health');
    expect(closed(listeners)).toEqual([false, false]);
    await eventually(() => openOnes(strangers) <= 5);
    for (const stream of streams) expect(stream.destroyed).toBe(false);
  });

  it('idle ones with a login have three quarters, and the one that was used longest ago is closed', async () => {
    await begin(4);
    const members = await many(3, 'member');
    await ask(members[0]!, 'member');
    const next = await ask(await open(), 'member');
    await eventually(() => members[1]!.closed);
    expect(closed([...members, next])).toEqual([false, true, false, false]);
  });

  it('where all have a login and a request under way, the new one is closed', async () => {
    await begin(4);
    const busy: Socket[] = [];
    for (const name of ['A', 'B', 'C', 'D']) busy.push(...(await many(1, `member${name}-stream`)));
    const next = await open();
    await eventually(() => next.closed);
    expect(closed(busy)).not.toContain(true);
  });

  it('of those without a login the oldest is closed, even with a request under way', async () => {
    await begin(4);
    const busy = await many(3, 'stream');
    const next = await ask(await open(), 'health');
    expect(closed([...busy, next])).toEqual([true, false, false, false]);
  });

  it('the log says it once, with the limits', async () => {
    await begin(8);
    await many(40);
    expect(told).toEqual([expect.stringContaining('MAX_CONNECTIONS allows: 8, of which 6 without a login')]);
  });
});
