import { once } from 'node:events';
import { createServer } from 'node:net';
import { freePort } from '../../../src/embedded/index.js';

const HOST = '127.0.0.1';
/** From here on systems give ports to outgoing connections (Linux; others begin later). */
const OUTGOING = 32_768;

it('a port that can be listened at, out of reach of outgoing connections', async () => {
  for (let count = 0; count < 50; count += 1) {
    const port = await freePort(HOST);
    expect(port).toBeLessThan(OUTGOING);
    const server = createServer().listen(port, HOST);
    await once(server, 'listening');
    await once(server.close(), 'close');
  }
});

it('none that anybody listens at', async () => {
  const chosen = jest.spyOn(await import('node:crypto'), 'randomInt');
  const holder = createServer().listen(await freePort(HOST), HOST);
  await once(holder, 'listening');
  const { port } = holder.address() as { port: number };
  chosen.mockImplementationOnce(() => port as never);
  expect(await freePort(HOST)).not.toBe(port);
  chosen.mockRestore();
  await once(holder.close(), 'close');
});

it('an address that nobody has has no free port', async () => {
  await expect(freePort('203.0.113.1')).rejects.toThrow(
    'No port from 20000 to 31999 is free on 203.0.113.1.',
  );
});
