import { once } from 'node:events';
import { createServer } from 'node:net';

export const HOST = '127.0.0.1';

/** A port that nobody listens at now. */
export async function freePort() {
  const server = createServer().listen(0, HOST);
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return port;
}
