import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { eventually, type TestApplication, TestService } from '../support/index.js';

const STALLED_MS = 1000;
/** More bytes of answers than the buffers of a connection hold. */
const MANY_ANSWERS = 200;

let service: TestService;
let app: TestApplication;
beforeAll(async () => {
  service = await TestService.start({
    STALLED_MS: String(STALLED_MS),
    MARK_WAIT: '4000',
    KEEP_ALIVE_MS: '1000',
  });
  app = await service.application();
  await app.products(1);
});
afterAll(() => service.stop());

const connections = () =>
  new Promise<number>((resolve, reject) =>
    service.app
      .getHttpServer()
      .getConnections((error: Error | null, count: number) => (error ? reject(error) : resolve(count))),
  );

function opened() {
  const { port } = new URL(service.url);
  return connect(Number(port), '127.0.0.1');
}

it('a client that waits for its answer for longer than STALLED_MS gets it', async () => {
  const to = new Date(Date.now() + 2.5 * STALLED_MS).toISOString();
  const page = await app.feed('product').page({ to, limit: 10 });
  expect(page.to).toBe(to);
});

it('a client that waits before its first request for longer than STALLED_MS gets its answer', async () => {
  const socket = opened();
  await once(socket, 'connect');
  await wait(1.5 * STALLED_MS);
  socket.write('GET /health/live HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
  const [answer] = (await once(socket, 'data')) as [Buffer];
  expect(answer.toString()).toMatch(/^HTTP\/1\.1 200 /);
});

it('a client that takes nothing of any other answer for STALLED_MS is disconnected', async () => {
  await eventually(async () => (await connections()) === 0);
  const socket = opened();
  socket.on('error', () => undefined).pause();
  socket.write('GET /openapi.json HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(MANY_ANSWERS));
  await eventually(async () => (await connections()) === 1);
  await eventually(async () => (await connections()) === 0);
  socket.destroy();
});
