import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { Connections } from '../../../src/http/index.js';
import { eventually } from '../../support/index.js';

let server: Server;
let told: string[];
let opened: number;
/** Answers that have begun and do not end. */
let streams: ServerResponse[];
const sockets: Socket[] = [];

/** A server with so many connections. It lets in a request for /member, and answers /stream without an end. */
async function serve(most: number): Promise<void> {
  told = [];
  opened = 0;
  streams = [];
  server = createServer((request, response) => {
    const [, path] = request.url!.split('/');
    if (path!.startsWith('member')) Object.assign(request, { user: {} });
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
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
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

it('connections without a login have three quarters, and the oldest is closed, even if it was used since', async () => {
  await serve(8);
  const idle = await many(6);
  await ask(idle[0]!, 'health');
  expect(told).toEqual([]);
  const late = await many(2, 'health');
  await eventually(() => idle[1]!.closed);
  expect(closed(idle)).toEqual([true, true, false, false, false, false]);
  expect(closed(late)).toEqual([false, false]);
});

it('however many strangers come, connections with a login stay, and the next stranger is answered', async () => {
  await serve(8);
  const members = await many(2, 'member');
  const strangers = await many(40);
  await ask(await open(), 'health');
  await eventually(() => openOnes(strangers) <= 5);
  for (const member of members) await ask(member, 'member');
});

it('a stream that a login has opened counts as one with a login while it lasts', async () => {
  await serve(8);
  const listeners = await many(2, 'member-stream');
  const strangers = await many(20);
  await ask(await open(), 'health');
  expect(closed(listeners)).toEqual([false, false]);
  await eventually(() => openOnes(strangers) <= 5);
  for (const stream of streams) expect(stream.destroyed).toBe(false);
});

it('idle ones with a login have three quarters, and the one that was used longest ago is closed', async () => {
  await serve(4);
  const members = await many(3, 'member');
  await ask(members[0]!, 'member');
  const next = await ask(await open(), 'member');
  await eventually(() => members[1]!.closed);
  expect(closed([...members, next])).toEqual([false, true, false, false]);
});

it('where all have a login and a request under way, the new one is closed', async () => {
  await serve(4);
  const busy = await many(4, 'member-stream');
  const next = await open();
  await eventually(() => next.closed);
  expect(closed(busy)).not.toContain(true);
});

it('of those without a login the oldest is closed, even with a request under way', async () => {
  await serve(4);
  const busy = await many(3, 'stream');
  const next = await ask(await open(), 'health');
  expect(closed([...busy, next])).toEqual([true, false, false, false]);
});

it('the log says it once, with the limits', async () => {
  await serve(8);
  await many(40);
  expect(told).toEqual([expect.stringContaining('MAX_CONNECTIONS allows: 8, of which 6 without a login')]);
});
