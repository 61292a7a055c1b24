import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/**
 * Below the ports that systems give to outgoing connections: one of those could take the port while mongod is away, even
 * the connection by which somebody looks whether it is back.
 */
const FIRST = 20_000;
const BEHIND_LAST = 32_000;
const ATTEMPTS = 100;

/** A free port of this host, outside the ephemeral range. */
export async function freePort(host: string): Promise<number> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const port = randomInt(FIRST, BEHIND_LAST);
    if (await isFree(port, host)) return port;
  }
  throw new Error(`No port from ${FIRST} to ${BEHIND_LAST - 1} is free on ${host}.`);
}

async function isFree(port: number, host: string): Promise<boolean> {
  const server = createServer();
  try {
    await once(server.listen(port, host), 'listening');
    await once(server.close(), 'close');
    return true;
  } catch {
    return false;
  }
}
