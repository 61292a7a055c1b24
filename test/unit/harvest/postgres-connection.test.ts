import { once } from 'node:events';
import { type AddressInfo, createServer, Socket } from 'node:net';
import { PostgresStore } from '../../../client/src/stores/postgres.js';

it('a server that is gone without a word is noticed: the system asks for it while nothing comes', async () => {
  const asked = jest.spyOn(Socket.prototype, 'setKeepAlive');
  const server = createServer((socket) => socket.once('data', () => socket.destroy()));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  await expect(PostgresStore.open(`postgres://me@127.0.0.1:${port}/copies`, 'products')).rejects.toThrow(
    'terminated',
  );
  expect(asked).toHaveBeenCalledWith(true, 30_000);
  asked.mockRestore();
  server.close();
});
