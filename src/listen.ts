import { once } from 'node:events';
import { createServer } from 'node:net';
import type { INestApplication } from '@nestjs/common';
import { FatalError } from './common/index.js';
import type { Settings } from './config/index.js';
import { closeInTime } from './shutdown.js';

/** What an operator has to repair, by the error code of the operating system. */
const WRONG_SETTING: Record<string, keyof typeof ADVICE> = {
  EADDRINUSE: 'port',
  EACCES: 'port',
  EADDRNOTAVAIL: 'host',
  EAFNOSUPPORT: 'host',
  EAI_AGAIN: 'host',
  EAI_FAIL: 'host',
  EINVAL: 'host',
  ENOTFOUND: 'host',
};

const ADVICE = {
  host: 'Set HOST to an address of this machine, such as 127.0.0.1 or 0.0.0.0.',
  port: 'Set PORT to a port that is free and allowed.',
};

type Address = Pick<Settings, 'host' | 'port'>;

/**
 * Opens the port. Where HOST or PORT cannot be had, it closes what the application has begun, so that nothing complains
 * of a database that ends next, and throws a FatalError that names the setting.
 */
export async function listen(
  app: Pick<INestApplication, 'listen' | 'close'>,
  address: Address,
): Promise<void> {
  try {
    await app.listen(address.port, address.host);
  } catch (error) {
    await closeInTime(app);
    clearly(address)(error);
  }
}

/** Throws the same before anything else is begun: a database that takes long to come up would come up for nothing. */
export async function assertCanListen(address: Address): Promise<void> {
  const server = createServer().listen(address.port, address.host);
  await once(server, 'listening').catch(clearly(address));
  server.close();
  await once(server, 'close');
}

function clearly({ host, port }: Address): (error: unknown) => never {
  return (error) => {
    const { code, message } = error as NodeJS.ErrnoException;
    const setting = WRONG_SETTING[code ?? ''];
    if (setting === undefined) throw error;
    throw new FatalError(
      `HOST "${host}" with PORT ${port} cannot be listened at: ${message}. ${ADVICE[setting]}`,
    );
  };
}
