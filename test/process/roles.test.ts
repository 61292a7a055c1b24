import { execFile } from 'node:child_process';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { mongo } from 'mongoose';
import { eventually } from '../support/eventually.js';
import { startLocked } from '../support/own-mongod.js';
import { freshDataDir, ServiceProcess } from '../support/process.js';
import { privilegesOf, runRolesScript, setPrivileges } from '../support/roles.js';

jest.setTimeout(120_000);

const APP = ['--org', 'acme', '--app', 'shop'];
const BIKES = [...APP, '--kind', 'product', '--name', 'bikes'];
/** The server's note of a command for which a user lacks a right. */
const REFUSED = 20_436;

let locked: Awaited<ReturnType<typeof startLocked>>;
let root: mongo.MongoClient;
let dataDir: string;
/** What was refused before there was any user. */
let refusedBefore: string[];

beforeAll(async () => {
  locked = await startLocked([
    { name: 'writer', roles: [{ role: 'readWrite', db: 'tidemark' }] },
    { name: 'plain', roles: [{ role: 'readWrite', db: 'plain' }] },
  ]);
  root = await new mongo.MongoClient(locked.as('root')).connect();
  await runRolesScript(root, { database: 'tidemark', role: 'tidemark', user: 'tidemark' });
  dataDir = await freshDataDir();
  refusedBefore = await refused();
});
afterAll(async () => {
  await root.close();
  await locked.stop();
  await rm(dataDir, { recursive: true });
});

/** Runs a command as the service's user; fails unless it exits with 0. */
function admin(...words: string[]): Promise<string> {
  const env = { ...process.env, MONGODB_URI: locked.as('tidemark') };
  return new Promise((resolve, reject) => {
    execFile(process.execPath, ['dist/cli.js', ...words], { env }, (error, output, errors) =>
      error === null ? resolve(output) : reject(new Error(`${words.join(' ')}: ${output}${errors}`)),
    );
  });
}

/** The commands that the server has refused for want of a right, of its last thousand notes. */
async function refused(): Promise<string[]> {
  const { log } = (await root.db('admin').command({ getLog: 'global' })) as { log: string[] };
  return log.filter((line) => (JSON.parse(line) as { id: number }).id === REFUSED);
}

it('under the role of docs/roles.js all works, and the server refuses nothing', async () => {
  const service = await ServiceProcess.start({
    dataDir,
    environment: { MONGODB_URI: locked.as('tidemark'), LOG_LEVEL: 'info' },
  });
  const writer = await new mongo.MongoClient(locked.as('writer')).connect();
  const products = writer.db('tidemark').collection('products');
  try {
    await admin('application', 'create', ...APP);
    const issued = await admin(
      'credential',
      'issue',
      '--username',
      'ann',
      ...APP,
      '--level',
      'write',
      '--json',
    );
    const { password } = JSON.parse(issued) as { password: string };
    const login = { authorization: `Basic ${Buffer.from(`ann:${password}`).toString('base64')}` };
    const ids = async (feed: string) => {
      const get = async (path: string) =>
        (await fetch(`${service.url}/acme/shop/api/v1/product/${path}`, { headers: login })).json();
      const { offset } = (await get('max')) as { offset?: string };
      const { result = [] } = (await get(`${feed}?to=${offset}`)) as { result?: { id: string }[] };
      return result.map(({ id }) => id).sort();
    };
    const delivers = (feed: string, wanted: string[]) =>
      eventually(async () => JSON.stringify(await ids(feed)) === JSON.stringify(wanted));

    const member = await fetch(`${service.url}/acme/shop/api/v0.1/member`, {
      method: 'POST',
      headers: { ...login, 'content-type': 'application/json' },
      body: JSON.stringify({ accountnumber: '1', email: 'ann@example.com' }),
    });
    expect(member.status).toBe(201);

    // Large enough to be compressed.
    const data = { category: 'bikes', text: 'text '.repeat(1000) };
    const product = (id: string) => ({ organizationid: 'acme', appid: 'shop', id, data, channels: ['web'] });
    await products.insertMany(['a', 'b', 'c', 'd'].map(product));
    await delivers('default/updates', ['a', 'b', 'c', 'd']);
    await products.deleteOne({ id: 'd' });
    await delivers('harddeletes', ['d']);

    await admin('service', 'set', ...BIKES, '--filter', '{"data.category":"bikes"}');
    await delivers('bikes/updates', ['a', 'b', 'c']);
    await admin('service', 'set', ...BIKES, '--filter', '{"data.category":"tents"}');
    await delivers('bikes/softdeletes', ['a', 'b', 'c']);
    expect(await admin('service', 'preview', ...BIKES)).toContain('0 of 3 products match');

    const file = join(dataDir, 'products.ndjson');
    await writeFile(file, '{"id": "a", "data": {"category": "tents"}}\n{"id": "e", "data": {}}\n');
    await admin('import', ...APP, '--kind', 'product', '--mirror', file);
    await delivers('default/updates', ['a', 'e']);
    expect(await admin('resync', ...APP, '--kind', 'product')).toContain('2 records');
    expect(await admin('status')).toMatch(/^Oplog +reaches back .+ full/m);
    const check = await admin('check');
    expect(check.split('\n').filter((line) => !/^\w+ +ok: /.test(line))).toEqual(['']);
  } finally {
    await writer.close();
    await service.stop();
  }
  // Node 20, on which the tests may run, has a warning of its own.
  const logged = service.logged.filter((line) => !line.includes('The support of Node 20 ended'));
  expect(logged.filter((line) => /"level":"(warn|error|fatal)"/.test(line))).toEqual([]);
  expect(service.said).toEqual([expect.stringMatching(/^Tidemark listens at /)]);
  expect((await refused()).filter((line) => !refusedBefore.includes(line))).toEqual([]);
});

it('the log of a start names each action that the role lacks, and what is lost', async () => {
  const uri = locked.as('plain').replace('/tidemark?', '/plain?');
  const service = await ServiceProcess.start({ dataDir, environment: { MONGODB_URI: uri } });
  await service.prints('serverStatus on the cluster is missing: the gauges tidemark_oplog_');
  expect(service.logged.filter((line) => line.includes('The role lacks an action: '))).toHaveLength(6);
  expect(await service.stop()).toBe(0);
});

describe('a role that lacks an action without which no instance can serve ends the start with one line', () => {
  const NAMES = { database: 'bare', role: 'bare', user: 'bare' };
  let uri: string;
  let all: Awaited<ReturnType<typeof privilegesOf>>;

  beforeAll(async () => {
    await runRolesScript(root, NAMES);
    uri = locked.as('bare').replace('/tidemark?', '/bare?');
    all = await privilegesOf(root, 'bare');
  });

  // Without createIndex only while an index is missing, so it comes first.
  it.each(['createIndex', 'listCollections', 'listIndexes', 'find', 'insert', 'update', 'changeStream'])(
    'such as %s, which it names',
    async (missing) => {
      const less = all.map(({ resource, actions }) => ({
        resource,
        actions: actions.filter((action) => action !== missing),
      }));
      await setPrivileges(root, 'bare', less);
      const service = ServiceProcess.spawn({ dataDir, environment: { MONGODB_URI: uri } });
      try {
        expect(await service.exited).toBe(1);
        expect(service.lines.at(-1)).toBe(
          `The user in MONGODB_URI lacks actions on the database bare that the service needs: ${missing}. ` +
            'Give it the role that docs/roles.js creates, or at least readWrite on the database bare.',
        );
      } finally {
        await service.stop('SIGKILL');
      }
    },
    30_000,
  );
});
