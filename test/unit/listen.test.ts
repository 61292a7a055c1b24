import { once } from 'node:events';
import { createServer, type Server } from 'node:net';
import { assertCanListen, listen } from '../../src/start.js';

/** A server as Nest hands it out: `listen` ends when the port is open. */
function application(server: Server) {
  return {
    close: jest.fn(() => Promise.resolve()),
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
    const app = application(createServer());
    await expect(listen(app, { host: '127.0.0.1', port })).rejects.toMatchObject({
      name: 'FatalError',
      message: expect.stringMatching(/EADDRINUSE.*Set PORT/),
    });
    expect(app.close).toHaveBeenCalledTimes(1);
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
    const app = application(server);
    await listen(app, address);
    expect(app.close).not.toHaveBeenCalled();
    server.close();
  });

  it.each([
    [{ metricsHost: undefined }, 'HOST'],
    [{ metricsHost: '127.0.0.1' }, 'METRICS_HOST'],
  ])('METRICS_PORT that is taken: %j', async (host, name) => {
    const holder = createServer().listen(0, '127.0.0.1');
    await once(holder, 'listening');
    const { port } = holder.address() as { port: number };
    const addresses = { host: '127.0.0.1', port: 0, metricsPort: port, ...host };
    const sentence = new RegExp(
      `^${name} "127.0.0.1" with METRICS_PORT ${port} [^\\n]+EADDRINUSE[^\\n]+ Set METRICS_PORT to a port [^\\n]+$`,
    );
    await expect(assertCanListen(addresses)).rejects.toMatchObject({
      message: expect.stringMatching(sentence),
    });
    const server = createServer();
    const app = application(server);
    const apart = {
      listen: () => once(createServer().listen(port, '127.0.0.1'), 'listening').then(() => port),
    };
    await expect(listen(app, addresses, apart)).rejects.toMatchObject({
      name: 'FatalError',
      message: expect.stringMatching(sentence),
    });
    expect(app.close).toHaveBeenCalledTimes(1);
    server.close();
    holder.close();
  });

  it('any other error goes on as it is', async () => {
    const other = new Error('other');
    const app = { ...application(createServer()), listen: () => Promise.reject(other) };
    await expect(listen(app, { host: '127.0.0.1', port: 0 })).rejects.toBe(other);
  });
});
