import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { eventually, PASSWORD, TestService } from '../support/index.js';

const RECORDS = 20;
const BYTES = 1_000_000;
const SHORT_MS = 500;

it('a client that takes nothing for two minutes is let go, and what is held for it with it', async () => {
  const service = await TestService.start();
  const server = service.app.getHttpServer();
  expect(server.timeout).toBe(120_000);
  const sockets: Socket[] = [];
  server.on('connection', (socket: Socket) => sockets.push(socket));
  const app = await service.application();
  await app.products(RECORDS, () => ({ data: { text: 'x'.repeat(BYTES) } }));
  const to = await app.max('product');

  const url = `${service.url}/${app.organizationid}/${app.appid}/api/v1/product/default/updates?to=${to.toISOString()}`;
  const request = get(url, { auth: `${app.user('read')}:${PASSWORD}` });
  const [page] = (await once(request, 'response')) as [IncomingMessage];
  expect(page.statusCode).toBe(200);
  for (const socket of sockets) socket.setTimeout(SHORT_MS);
  await eventually(async () => (await connections()) === 0);

  let taken = 0;
  page.on('data', (chunk: Buffer) => (taken += chunk.length));
  await expect(once(page, 'end')).rejects.toThrow('aborted');
  expect(taken).toBeLessThan(RECORDS * BYTES);
  await service.stop();

  function connections(): Promise<number> {
    return new Promise((resolve, reject) =>
      server.getConnections((error, count) => (error === null ? resolve(count) : reject(error))),
    );
  }
});
