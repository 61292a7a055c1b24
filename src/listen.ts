import type { INestApplication } from '@nestjs/common';
import { FatalError } from './common/index.js';
import type { Settings } from './config/index.js';

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

/** Opens the port; throws a FatalError that names the setting where HOST or PORT cannot be had. */
export async function listen(
  app: Pick<INestApplication, 'listen'>,
  { host, port }: Pick<Settings, 'host' | 'port'>,
): Promise<void> {
  try {
    await app.listen(port, host);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const setting = WRONG_SETTING[code ?? ''];
    if (setting === undefined) throw error;
    throw new FatalError(
      `HOST "${host}" with PORT ${port} cannot be listened at: ${message}. ${ADVICE[setting]}`,
    );
  }
}
