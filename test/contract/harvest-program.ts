import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { PASSWORD, type TestApplication } from '../support/index.js';
import { BIKES } from './harvest-client.js';

const PROGRAM = 'client/dist/command/main.js';

/** Begins `tidemark-harvest` for the bikes of an application, with no proxy unless the environment names one. */
export function beginHarvest(
  app: TestApplication,
  words: string[],
  environment: Record<string, string> = {},
): ChildProcess {
  const { organizationid, appid, service } = app;
  const named = ['--url', service.url, '--org', organizationid, '--app', appid, '--kind', 'product'];
  const env = {
    ...process.env,
    ...{ TIDEMARK_USERNAME: app.user('read'), TIDEMARK_PASSWORD: PASSWORD, TIDEMARK_TO: '' },
    ...{ HTTP_PROXY: '', HTTPS_PROXY: '', http_proxy: '', https_proxy: '', NO_PROXY: '', no_proxy: '' },
    ...environment,
  };
  return spawn(process.execPath, [PROGRAM, ...named, '--service', BIKES, ...words], { env, stdio: 'pipe' });
}

/** What a command has come to. */
export async function ended(child: ChildProcess, input = '') {
  child.stdin!.end(input);
  const [[code], output, errors] = await Promise.all([
    once(child, 'exit') as Promise<[number]>,
    text(child.stdout!),
    text(child.stderr!),
  ]);
  return { code, output, errors };
}
