import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';
import { eventually } from '../support/eventually.js';
import { NameServer } from '../support/name-server.js';
import { type OwnMongod, startOwn, startStandalone } from '../support/own-mongod.js';
import { freshDataDir, removeDataDir, ServiceProcess } from '../support/process.js';

jest.setTimeout(300_000);

const PRELOADED = join(__dirname, '..', 'support', 'ask-name-server.mjs');

let names: NameServer;
let mongod: OwnMongod;
let dataDir: string;
let spawned: ServiceProcess[] = [];

beforeAll(async () => {
  names = await NameServer.start();
  mongod = await startOwn();
  dataDir = await freshDataDir();
});
afterEach(async () => {
  await Promise.all(spawned.map((service) => service.stop('SIGKILL')));
  spawned = [];
});
afterAll(async () => {
  await mongod.stop();
  await names.stop();
  await removeDataDir(dataDir);
});

const environment = (name: string, options = '') => ({
  // With `mongodb+srv` the driver wants TLS unless it is told otherwise.
  MONGODB_URI: `mongodb+srv://${name}/tidemark?tls=false${options}`,
  NODE_OPTIONS: `--import "${pathToFileURL(PRELOADED).href}"`,
  TEST_NAME_SERVER: names.address,
});

function start(name: string, options?: string): ServiceProcess {
  const service = ServiceProcess.spawn({ dataDir, environment: environment(name, options) });
  spawned.push(service);
  return service;
}

const portOf = ({ uri }: OwnMongod) => Number(new URL(uri).port);

describe('a MONGODB_URI with mongodb+srv://', () => {
  it('leads to the replica set that the SRV and TXT records name, the service and the commands', async () => {
    names.tellOfDatabase('db.tidemark.test', portOf(mongod), 'replicaSet=own');
    const service = start('db.tidemark.test');
    await eventually(() => service.isReady());
    expect(service.said).toEqual([expect.stringMatching(/^Tidemark listens at http:/)]);
    expect(await command('db.tidemark.test')).toMatchObject({ code: 0, errors: '' });
    expect(await service.stop()).toBe(0);
  });

  it('says in one sentence that DNS has no such record, and works once it has', async () => {
    const service = start('later.tidemark.test');
    await service.prints('Tidemark listens');
    expect(service.said).toEqual([
      'The database at later.tidemark.test does not answer (MONGODB_URI): DNS has no SRV record for it; if the host has none, write mongodb:// instead of mongodb+srv://. Waiting for it; requests are answered 503 meanwhile.',
      expect.stringMatching(/^Tidemark listens at http:/),
    ]);
    expect((await fetch(`${service.url}/health/ready`)).status).toBe(503);
    const { code, errors } = await command('later.tidemark.test');
    expect([code, errors.split('\n')]).toEqual([
      1,
      [expect.stringMatching(/The database does not answer: .*_mongodb\._tcp\.later\.tidemark\.test/), ''],
    ]);

    names.tellOfDatabase('later.tidemark.test', portOf(mongod));
    await service.prints('The database answers.');
    await eventually(() => service.isReady());
    expect(await service.stop()).toBe(0);
  });

  it.each([
    [
      'TXT record',
      'txt.tidemark.test',
      'replicaSet=other',
      '',
      'and the TXT record of its name in DNS says "other". Write replicaSet=own into MONGODB_URI.',
    ],
    [
      'connection string',
      'uri.tidemark.test',
      undefined,
      '&replicaSet=other',
      'and MONGODB_URI names "other". Write replicaSet=own there.',
    ],
  ])(
    'ends the start with one sentence where its %s names another replica set',
    async (_what, name, told, options, sentence) => {
      names.tellOfDatabase(name, portOf(mongod), told);
      const service = start(name, options);
      expect(await service.exited).toBe(1);
      expect(service.said.at(-1)).toBe(
        `The server at node.tidemark.test:${portOf(mongod)} belongs to the replica set "own", ${sentence}`,
      );
    },
  );

  it('ends the start with one sentence where it leads to a stand-alone server', async () => {
    const alone = await startStandalone();
    try {
      names.tellOfDatabase('alone.tidemark.test', portOf(alone));
      const service = start('alone.tidemark.test');
      expect(await service.exited).toBe(1);
      expect(service.said.at(-1)).toMatch(/^This MongoDB is a stand-alone server\./);
    } finally {
      await alone.stop();
    }
  });
});

/** What `tidemark application list` comes to. */
async function command(name: string): Promise<{ code: number; errors: string }> {
  const env = { ...process.env, ...environment(name) };
  const child = spawn(process.execPath, ['dist/cli.js', 'application', 'list'], { env, stdio: 'pipe' });
  child.stdout.resume();
  const [[code], errors] = await Promise.all([once(child, 'exit') as Promise<[number]>, text(child.stderr)]);
  return { code, errors };
}
