import { once } from 'node:events';
import { createServer, type Server } from 'node:net';
import { assertCanListen, listen } from '../../src/listen.js';

/** A server as Nest hands it out: `listen` ends when the port is open. */
function application(server: Server) {
  return {
    listen: async (port: number | string, host?: unknown) => {
      server.listen(Number(port), String(host));
      await once(server, 'listening');
    },
  };
}

describe('an address that cannot be had is one clear line that names the setting', () => {
  it.each(['no-such-host.invalid', '203.0.113.1'])('HOST=%s', async (host) => {
    const start = listen(application(createServer()), { host, port: 0 });
    await expect(start).rejects.toMatchObject({
      name: 'FatalError',
      message: expect.stringMatching(new RegExp(`^HOST "${host}" [^\\n]+ Set HOST to an address [^\\n]+$`)),
    });
  });

  it('a port that is taken', async () => {
    const holder = createServer().listen(0, '127.0.0.1');
    await once(holder, 'listening');
    const { port } = holder.address() as { port: number };
    const start = listen(application(createServer()), { host: '127.0.0.1', port });
    await expect(start).rejects.toMatchObject({
      name: 'FatalError',
      message: expect.stringMatching(/EADDRINUSE.*Set PORT/),
    });
    holder.close();
  });

  it('before anything else is begun', async () => {
    const holder = createServer().listen(0, '127.0.0.1');
    await once(holder, 'listening');
    const address = { host: '127.0.0.1', port: (holder.address() as { port: number }).port };
    await expect(assertCanListen(address)).rejects.toMatchObject({
      name: 'FatalError',
      message: expect.stringMatching(/EADDRINUSE.*Set PORT/),
    });
    holder.close();
    await once(holder, 'close');
    await assertCanListen(address);
    const server = createServer();
    await listen(application(server), address);
    server.close();
  });

  it('any other error goes on as it is', async () => {
    const other = new Error('other');
    const start = listen({ listen: () => Promise.reject(other) }, { host: '127.0.0.1', port: 0 });
    await expect(start).rejects.toBe(other);
  });
});
