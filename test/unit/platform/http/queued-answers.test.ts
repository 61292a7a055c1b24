import { once } from 'node:events';
import { createServer, type RequestListener, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { Server as SecureServer, connect as connectSecurely } from 'node:tls';
import { closeQueued, createSecureServer } from '../../../../src/platform/http/index.js';
import { eventually } from '../../../support/index.js';
import { TLS_IDENTITY } from '../../../support/tls-identity.js';

let server: Server;
let client: Socket;
let answers: Map<string, ServerResponse>;
/** How often the answer of each path has closed. */
let closed: Record<string, number>;

const answer: RequestListener = ({ url = '' }, response) => {
  answers.set(url, response);
  response.on('close', () => (closed[url] = (closed[url] ?? 0) + 1));
  if (url === '/ended') response.end('all');
  else response.write('begun');
};

/** A client that sends requests of these paths together. */
async function ask(isSecure: boolean, ...paths: string[]): Promise<void> {
  answers = new Map();
  closed = {};
  server = isSecure ? createSecureServer(TLS_IDENTITY, answer) : createServer(answer);
  closeQueued(server);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const to = { port: (server.address() as AddressInfo).port, host: '127.0.0.1' };
  client =
    server instanceof SecureServer
      ? connectSecurely({ ...to, servername: 'feeds.example', ca: TLS_IDENTITY.cert })
      : connect(to);
  client.on('error', () => undefined).resume();
  client.write(paths.map((path) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`).join(''));
  await eventually(() => answers.size === paths.length);
}

afterEach(async () => {
  client.destroy();
  server.closeAllConnections();
  server.close();
  await once(server, 'close');
});

describe.each([
  ['HTTP', false],
  ['HTTPS', true],
])('over %s, a client that sends several requests together and goes away', (_what, isSecure) => {
  it('closes the answers behind the one in progress, whether they have ended or not', async () => {
    await ask(isSecure, '/first', '/ended', '/last');
    client.destroy();
    await eventually(() => Object.keys(closed).length === 3);
    expect(closed).toEqual({ '/first': 1, '/ended': 1, '/last': 1 });
    const states = [...answers.values()].map((one) => [one.closed, one.destroyed]);
    expect(states).toEqual(Array.from({ length: 3 }, () => [true, true]));
  });

  it('closes an answer once whose turn has come', async () => {
    await ask(isSecure, '/first', '/last');
    answers.get('/first')?.end();
    await eventually(() => answers.get('/last')?.socket !== null);
    client.destroy();
    await eventually(() => Object.keys(closed).length === 2);
    expect(closed).toEqual({ '/first': 1, '/last': 1 });
  });
});
