import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { eventually } from '../support/eventually.js';
import { NameServer } from '../support/name-server.js';
import { type OwnMongod, startOwn } from '../support/own-mongod.js';
import { freshDataDir, removeDataDir, ServiceProcess } from '../support/process.js';

jest.setTimeout(300_000);

const PRELOADED = join(__dirname, '..', 'support', 'ask-name-server.mjs');
const SECRET = 'never-told-4711';
/** Bytes of a line. */
const LONGEST = 1024;

let names: NameServer;
let mongod: OwnMongod;
let dataDir: string;
let service: ServiceProcess;

beforeAll(async () => {
  names = await NameServer.start();
  mongod = await startOwn();
  dataDir = await freshDataDir();
});
afterEach(() => service.stop('SIGKILL'));
afterAll(async () => {
  await mongod.stop();
  await names.stop();
  await removeDataDir(dataDir);
});

const portOf = ({ uri }: OwnMongod) => Number(new URL(uri).port);

function start(name: string, login = ''): void {
  service = ServiceProcess.spawn({
    dataDir,
    environment: {
      MONGODB_URI: `mongodb+srv://${login}${name}/tidemark?tls=false`,
      NODE_OPTIONS: `--import "${pathToFileURL(PRELOADED).href}"`,
      TEST_NAME_SERVER: names.address,
    },
  });
}

/** Far more hosts than a replica set can have, in one answer of the name server. */
const MANY = Array.from({ length: 1000 }, (_, index) => `h${index}.tidemark.test`);

it.each<[string, string, () => void]>([
  ['another domain', 'other', () => names.tellOfHosts('other.tidemark.test', ['node.evil.test'], 27017)],
  ['no host', 'none', () => names.tellOfHosts('none.tidemark.test', [], 27017)],
  [
    'options that a TXT record cannot have',
    'options',
    () => names.tellOfDatabase('options.tidemark.test', portOf(mongod), 'tls=false&appName=evil'),
  ],
  [
    'two TXT records',
    'two',
    () =>
      names.tellOfHosts('two.tidemark.test', ['two.tidemark.test'], portOf(mongod), [
        'authSource=a',
        'authSource=b',
      ]),
  ],
  ['a server that refuses', 'closed', () => names.tellOfDatabase('closed.tidemark.test', 1)],
  ['port 0', 'zero', () => names.tellOfDatabase('zero.tidemark.test', 0)],
  [
    'a thousand hosts that refuse',
    'many',
    () => names.tellOfHosts('many.tidemark.test', MANY, 1, ['replicaSet=own']),
  ],
])(
  'where DNS leads to %s, the service waits, tells nothing secret, and works once DNS is right',
  async (_what, name, tell) => {
    tell();
    start(`${name}.tidemark.test`);
    await service.prints('Tidemark listens');
    expect(service.said[0]).toMatch(
      /^The database at \S+ does not answer \(MONGODB_URI\): .+ Waiting for it;/,
    );
    expect((await fetch(`${service.url}/health/live`)).status).toBe(200);
    expect((await fetch(`${service.url}/health/ready`)).status).toBe(503);
    names.tellOfDatabase(`${name}.tidemark.test`, portOf(mongod), 'replicaSet=own');
    await service.prints('The database answers.');
    await eventually(() => service.isReady());
    for (const line of service.lines) expect(Buffer.byteLength(line)).toBeLessThan(LONGEST);
    expect(await service.stop()).toBe(0);
  },
);

it('a password in MONGODB_URI is in no line, whatever DNS says', async () => {
  names.tellOfDatabase('secret.tidemark.test', portOf(mongod), 'evil=1');
  start('secret.tidemark.test', `ann:${SECRET}@`);
  await service.prints('Tidemark listens');
  expect(service.lines.join('\n')).not.toContain(SECRET);
});

it('what a TXT record says controls no terminal, and makes no further line', async () => {
  const wrong = 'replicaSet=%1b[2Jx%0aTidemark listens at http://evil.test';
  names.tellOfDatabase('escape.tidemark.test', portOf(mongod), wrong);
  start('escape.tidemark.test');
  expect(await service.exited).toBe(1);
  expect(service.said.at(-1)).toMatch(
    /^The server at node\.tidemark\.test:\d+ belongs to the replica set "own", and/,
  );
  expect(service.lines.join('')).not.toContain('\u001b');
});
