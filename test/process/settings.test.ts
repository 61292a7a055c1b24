import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { startOwn, type OwnMongod } from '../support/own-mongod.js';
import { freshDataDir, removeDataDir, ServiceProcess } from '../support/process.js';

jest.setTimeout(300_000);

/** Of a configuration that is wrong. */
const WRONG_SETTINGS = 78;

let dataDir: string;
let mongod: OwnMongod;
let spawned: ServiceProcess[] = [];

beforeAll(async () => {
  mongod = await startOwn();
});
afterAll(() => mongod.stop());
beforeEach(async () => {
  dataDir = await freshDataDir();
});
afterEach(async () => {
  await Promise.all(spawned.map((service) => service.stop('SIGKILL')));
  spawned = [];
  await removeDataDir(dataDir);
});

function start(environment: Record<string, string>): ServiceProcess {
  const service = ServiceProcess.spawn({ dataDir, environment });
  spawned.push(service);
  return service;
}

/** A command, with what it has printed and its exit code. */
async function admin(words: string[], environment: Record<string, string>) {
  const env = { ...process.env, MONGODB_URI: '', DATA_DIR: dataDir, ...environment };
  const child = spawn(process.execPath, ['dist/cli.js', ...words], {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [[code], output, errors] = await Promise.all([
    once(child, 'exit'),
    text(child.stdout),
    text(child.stderr),
  ]);
  return { code: code as number, output, errors };
}

async function written(content: string): Promise<string> {
  const path = join(dataDir, 'uri');
  await writeFile(path, content);
  return path;
}

describe('`MONGODB_URI_FILE`', () => {
  it('is read by the service and by the commands', async () => {
    const MONGODB_URI_FILE = await written(`${mongod.uri}\n`);
    const service = start({ MONGODB_URI_FILE });
    await service.prints('Tidemark listens');
    expect((await fetch(`${service.url}/health/live`)).status).toBe(200);
    const { code, output, errors } = await admin(['status', '--json'], { MONGODB_URI_FILE });
    expect([code, errors]).toEqual([0, '']);
    expect(JSON.parse(output)).toHaveProperty('watcher');
    expect(await service.stop()).toBe(0);
  });

  it('that is wrong ends the service with one line and exit code 78, with nothing begun; a command with 1', async () => {
    const MONGODB_URI_FILE = await written('');
    const service = start({ MONGODB_URI_FILE, LOG_LEVEL: 'info' });
    const sentence = `MONGODB_URI_FILE "${MONGODB_URI_FILE}" is empty. A right value: the path of a file that holds the value of MONGODB_URI.`;
    expect(await service.exited).toBe(WRONG_SETTINGS);
    expect(service.lines).toEqual([sentence]);
    expect(await readdir(dataDir)).toEqual(['uri']);
    expect(await admin(['status'], { MONGODB_URI_FILE })).toEqual({
      code: 1,
      output: '',
      errors: `${sentence}\n`,
    });
  });
});
