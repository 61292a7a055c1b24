import { once } from 'node:events';
import type { Server } from 'node:https';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { connect as connectSecurely } from 'node:tls';
import { clientErrorHandler, createSecureServer } from '../../../../src/platform/http/index.js';
import { eventually } from '../../../support/index.js';
import { TLS_IDENTITY } from '../../../support/tls-identity.js';

const HANDSHAKE_MS = 1000;

let server: Server;
let opened = 0;
/** Errors of connections, and whether the connection is closed already. */
let refusals: [code: string | undefined, isClosed: boolean][];
const sockets: Socket[] = [];

beforeEach(async () => {
  refusals = [];
  opened = 0;
  server = createSecureServer(
    { ...TLS_IDENTITY, handshakeTimeout: HANDSHAKE_MS },
    (_request, response) => void response.end('ok'),
  );
  server
    .on(
      'clientError',
      clientErrorHandler(() => undefined),
    )
    .on('connection', () => (opened += 1));
  server.on(
    'clientError',
    ({ code }: NodeJS.ErrnoException, { destroyed }) => void refusals.push([code, destroyed]),
  );
  await once(server.listen(0, '127.0.0.1'), 'listening');
});
afterEach(async () => {
  sockets.splice(0).forEach((socket) => socket.destroy());
  if (server.listening) await new Promise((resolve) => server.close(resolve));
});

const to = () => ({ port: (server.address() as AddressInfo).port, host: '127.0.0.1' });

const closed = (socket: Socket) => new Promise((resolve) => void socket.once('close', resolve));

/** A connection that the server has seen, and whose handshake has not begun. */
async function silent(): Promise<Socket> {
  const before = opened;
  const socket = connect(to());
  socket.on('error', () => undefined).resume();
  sockets.push(socket);
  await eventually(() => opened > before);
  return socket;
}

it('a connection without a handshake does not delay the end of the server', async () => {
  const socket = await silent();
  const half = await silent();
  half.write('\u0016\u0003\u0001');
  const ended = new Promise((resolve) => server.close(resolve));
  await Promise.all([ended, closed(socket), closed(half)]);
});

it('an idle connection whose handshake has ended does not either', async () => {
  const socket = connectSecurely({ ...to(), servername: 'feeds.example', ca: TLS_IDENTITY.cert });
  sockets.push(socket.on('error', () => undefined).resume());
  await once(socket, 'secureConnect');
  await Promise.all([new Promise((resolve) => server.close(resolve)), closed(socket)]);
});

it.each([
  ['HTTP without TLS', 'GET / HTTP/1.1\r\nHost: x\r\n\r\n'],
  ['anything else', 'hello, is anybody there?\r\n\r\n'],
])('%s is closed at once', async (_what, sent) => {
  const socket = await silent();
  socket.write(sent);
  await closed(socket);
  await eventually(() => refusals.length > 0);
  expect(refusals).toEqual([[expect.stringMatching(/^ERR_SSL_/), true]]);
});

it('a connection whose handshake takes too long is closed, and nothing is written to it', async () => {
  const socket = await silent();
  const received: Buffer[] = [];
  socket.on('data', (piece: Buffer) => received.push(piece));
  await closed(socket);
  expect(refusals).toEqual([['ERR_TLS_HANDSHAKE_TIMEOUT', true]]);
  expect(received).toEqual([]);
});
