import { execFile } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { mongo } from 'mongoose';
import { send } from '../support/answer.js';
import { dropDatabase, freshDatabase, type TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { freshDataDir, removeDataDir, ServiceProcess } from '../support/process.js';
import { copyVersion } from '../support/versions.js';

jest.setTimeout(240_000);

const ROOT = join(__dirname, '..', '..');
const COPIES = join(ROOT, '.cache', 'versions');
const SHOP = { organizationid: 'acme', appid: 'shop' };
const OF_SHOP = ['--org', 'acme', '--app', 'shop'];
const run = promisify(execFile);
/** In the log once the service has made its indexes. */
const PREPARED = 'Connected, and the indexes exist';

/** Versions of the service that follow each other; they differ in the storage formats that they know. */
type Version = 'this' | 'next' | 'afterNext';
const FORMATS: Record<Exclude<Version, 'this'>, string> = {
  next: '{ oldest: 1, newest: 2 }',
  afterNext: '{ oldest: 2, newest: 3 }',
};
const distOf = (version: Version) =>
  version === 'this' ? join(ROOT, 'dist') : join(COPIES, version, 'dist');

let dataDir: string;
let database: TestDatabase;
let db: mongo.Db;
let password: string;
const spawned: ServiceProcess[] = [];
const consumed = new Set<string>();
let cursor: string | undefined;

const spawnVersion = (version: Version) => {
  const program = join(distOf(version), 'main.entry.js');
  const service = ServiceProcess.spawn({
    dataDir,
    program,
    environment: { MONGODB_URI: database.uri, LOG_LEVEL: 'info' },
  });
  spawned.push(service);
  return service;
};
const startVersion = async (version: Version) => {
  const service = spawnVersion(version);
  await eventually(() => service.isReady());
  return service;
};
const admin = async (version: Version, ...words: string[]) =>
  run(process.execPath, [join(distOf(version), 'cli.entry.js'), ...words], {
    env: { ...process.env, MONGODB_URI: database.uri },
  });
/** Where the storage format is stored. */
const COPIES_OF_FORMAT = ['tidemark.leases', 'tidemark.storageformat'];
const formats = async () =>
  Promise.all(
    COPIES_OF_FORMAT.map(
      async (name) => (await db.collection(name).findOne({}))?.['format'] as number | undefined,
    ),
  );
const setFormats = (format: unknown) =>
  Promise.all(COPIES_OF_FORMAT.map((name) => db.collection(name).updateOne({}, { $set: { format } })));
/** Waits until both copies of the format are this one. */
const isInForce = (format: number) =>
  eventually(async () => (await formats()).every((stored) => stored === format));
const insert = (...ids: string[]) =>
  db
    .collection('products')
    .insertMany(ids.map((id) => ({ ...SHOP, id, type: 'product', lastupdated: new Date(), data: {} })));

/** Reads on with the cursor of the consumer, at whichever instance, until the ids have come. */
async function harvested(service: ServiceProcess, ...ids: string[]): Promise<void> {
  await eventually(async () => {
    const place = cursor === undefined ? '' : `?cursor=${cursor}`;
    const path = `${service.url}/acme/shop/api/v1/product/default/changes${place}`;
    const { status, json } = await send(path, 'GET', { user: 'ann', password });
    if (status !== 200) return false;
    const page = json as { result: { id: string }[]; cursor: string };
    page.result.forEach(({ id }) => consumed.add(id));
    ({ cursor } = page);
    return ids.every((id) => consumed.has(id));
  });
}

beforeAll(async () => {
  for (const [version, formats] of Object.entries(FORMATS)) await copyVersion(join(COPIES, version), formats);
  dataDir = await freshDataDir();
  database = await freshDatabase();
  ({ db } = database);
});
afterAll(async () => {
  await Promise.all(spawned.map((service) => service.stop('SIGKILL')));
  if (database !== undefined) await dropDatabase(database);
  await removeDataDir(dataDir);
  await rm(COPIES, { recursive: true, force: true });
});

describe('an upgrade, with a way back', () => {
  let old: ServiceProcess;
  let next: ServiceProcess;

  it('a new database has the newest format of the version that made it', async () => {
    old = await startVersion('this');
    await isInForce(1);
    await admin('this', 'application', 'create', ...OF_SHOP);
    const issued = await admin(
      'this',
      ...'credential issue --username ann --level read --json'.split(' '),
      ...OF_SHOP,
    );
    ({ password } = JSON.parse(issued.stdout) as { password: string });
    await insert('first');
    await harvested(old, 'first');
  });

  it('the next version runs beside the one before, and takes over', async () => {
    next = await startVersion('next');
    await insert('beside');
    await harvested(next, 'beside');
    await old.stop('SIGKILL');
    await insert('after');
    await harvested(next, 'after');
    expect(await formats()).toEqual([1, 1]);
  });

  it.each(COPIES_OF_FORMAT)('the loss of %s does not finish it', async (name) => {
    await db.collection(name).drop();
    await insert(`without ${name}`);
    await harvested(next, `without ${name}`);
    await isInForce(1);
  });

  it('the version before can come back until the upgrade is finished', async () => {
    old = await startVersion('this');
    await next.stop('SIGKILL');
    await insert('back');
    await harvested(old, 'back');
    expect((await admin('this', 'upgrade', 'finish', '--yes')).stdout).toBe(
      'Storage format 1 is in force already.\n',
    );
  });

  it('it ends with one sentence once the upgrade is finished, and no change is lost', async () => {
    next = await startVersion('next');
    const finished = await admin('next', 'upgrade', 'finish', '--yes');
    expect(finished.stdout).toBe('Storage format 2 is in force (1 before).\n');
    expect(await old.exited).toBe(1);
    expect(old.said.at(-1)).toBe(
      'The database has storage format 2, and this version knows formats up to 1: an upgrade to a newer version ' +
        'was finished. Start that version, or a newer one.',
    );
    await insert('finished');
    await harvested(next, 'finished');
    const stored = await db.collection('products').distinct('id');
    expect([...consumed].sort()).toEqual((stored as string[]).sort());
  });

  it('it neither starts again nor runs commands, and changes nothing', async () => {
    const late = spawnVersion('this');
    expect(await late.exited).toBe(1);
    const isPrepared = ({ logged }: ServiceProcess) => logged.join().includes(PREPARED);
    expect([isPrepared(next), isPrepared(late)]).toEqual([true, false]);
    expect(late.said.at(-1)).toContain(
      'The database has storage format 2, and this version knows formats up to 1',
    );
    await expect(
      admin('this', 'application', 'create', '--org', 'acme', '--app', 'late'),
    ).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringContaining('The database has storage format 2'),
    });
    expect(await db.collection('applications').countDocuments({ appid: 'late' })).toBe(0);
  });

  it.each(COPIES_OF_FORMAT)('the loss of %s does not let it start', async (name) => {
    await db.collection(name).drop();
    const late = spawnVersion('this');
    expect(await late.exited).toBe(1);
    expect(late.said.at(-1)).toContain('The database has storage format 2');
    await isInForce(2);
  });

  it('a version cannot be left out: it needs the format of the one before', async () => {
    await next.stop('SIGKILL');
    await setFormats(1);
    const skipping = spawnVersion('afterNext');
    expect(await skipping.exited).toBe(1);
    expect(skipping.said.at(-1)).toBe(
      'The database has storage format 1, and this version needs 2 or newer. Start the version before this one, ' +
        'and finish the upgrade to it with: admin upgrade finish.',
    );
    // What another program has damaged counts as the first format, and is corrected.
    await setFormats('one');
    await admin('next', 'upgrade', 'finish', '--yes');
    expect(await formats()).toEqual([2, 2]);
    await startVersion('afterNext');
  });
});
