import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { JudgedCheck } from '../../conformance/src/index.js';
import { send } from '../support/answer.js';
import { dropDatabase, freshDatabase, type TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { freshDataDir, removeDataDir, ServiceProcess } from '../support/process.js';

jest.setTimeout(300_000);

const ROOT = join(__dirname, '..', '..');
const SHOP = { organizationid: 'acme', appid: 'shop' };
const OF_SHOP = ['--org', 'acme', '--app', 'shop'];
const run = promisify(execFile);

let dataDir: string;
let files: string;
let service: ServiceProcess;
let second: ServiceProcess;
let database: TestDatabase;
let password: string;
let env: NodeJS.ProcessEnv;

const admin = async (...words: string[]) =>
  (await run(process.execPath, [join(ROOT, 'dist/cli.entry.js'), ...words], { env, cwd: ROOT })).stdout;
const importOrders = async (records: object[]) => {
  const file = join(files, 'orders.ndjson');
  await writeFile(file, records.map((record) => JSON.stringify(record)).join('\n'));
  await admin('import', file, ...OF_SHOP, '--kind', 'order');
};
const orders = () => database.db.collection('orders');
const ask = (path: string) =>
  send(`${service.url}/acme/shop/api/v1/order/${path}`, 'GET', { user: 'ann', password });
const idsOf = (json: unknown) => (json as { result: { id: string }[] }).result.map(({ id }) => id).sort();

beforeAll(async () => {
  dataDir = await freshDataDir();
  files = await mkdtemp(join(tmpdir(), 'tidemark-kind-'));
  database = await freshDatabase();
  const environment = { MONGODB_URI: database.uri };
  env = { ...process.env, ...environment };
  service = await ServiceProcess.start({ dataDir, environment });
  second = await ServiceProcess.start({ dataDir, environment });
  await admin('application', 'create', ...OF_SHOP);
  const made = await admin(
    'credential',
    'issue',
    ...OF_SHOP,
    '--username',
    'ann',
    '--level',
    'admin',
    '--json',
  );
  ({ password } = JSON.parse(made) as { password: string });
  await admin('kind', 'create', '--name', 'order', '--collection', 'orders');
});
afterAll(async () => {
  await second?.stop();
  await service?.stop();
  if (database !== undefined) await dropDatabase(database);
  await removeDataDir(dataDir);
  await rm(files, { recursive: true, force: true });
});

describe('a kind that an operator has created', () => {
  it('is known to every instance at once, and served when its records are known', async () => {
    for (const { url } of [service, second]) {
      const path = `${url}/acme/shop/api/v1/order/max`;
      const first = await send(path, 'GET', { user: 'ann', password });
      expect([200, 503]).toContain(first.status);
      await eventually(async () => (await send(path, 'GET', { user: 'ann', password })).status === 200);
    }
  });

  it('has indexes like the others', async () => {
    const keys = (await orders().indexes()).map(({ key }) => Object.keys(key as object).join(' '));
    expect(keys.sort()).toEqual([
      '_id',
      'organizationid appid _id',
      'organizationid appid id',
      'organizationid appid lastupdated _id',
    ]);
  });

  it('is in the OpenAPI document, with operations of its own', async () => {
    const { json } = await send(`${service.url}/openapi.json`, 'GET', {});
    const { paths } = json as { paths: Record<string, { get?: { operationId: string } }> };
    const told = Object.entries(paths).filter(([path]) => path.includes('/order/'));
    expect(told.map(([, { get }]) => get?.operationId).sort()).toEqual([
      'getOrderDigest',
      'getOrderMax',
      'getOrderSchema',
      'listOrderChanges',
      'listOrderHardDeletes',
      'listOrderSoftDeletes',
      'listOrderUpdates',
      'listenToOrderEvents',
    ]);
  });

  it('is imported, filtered, changed and deleted', async () => {
    await importOrders(['a', 'b', 'c', 'd'].map((id, n) => ({ id, data: { total: n } })));
    const filter = ['--name', 'large', '--kind', 'order', '--filter', '{"data.total":{"$gte":2}}'];
    await admin('service', 'set', ...OF_SHOP, ...filter);
    await importOrders([{ id: 'a', data: { total: 1 } }]);
    expect(await orders().findOne({ ...SHOP, id: 'a' })).toMatchObject({ type: 'order', data: { total: 1 } });
    await orders().deleteOne({ ...SHOP, id: 'd' });
    await eventually(async () => {
      const { json } = await ask('max');
      const to = (json as { offset: string }).offset;
      const pages = ['large/updates', 'large/softdeletes', 'harddeletes'].map((feed) =>
        ask(`${feed}?to=${to}`),
      );
      const shown = (await Promise.all(pages)).map(({ status, json: page }) =>
        status === 200 ? idsOf(page) : [],
      );
      return JSON.stringify(shown) === '[["c"],["a","b"],["d"]]';
    });
    const { json } = await ask(`default/updates?to=${new Date().toISOString()}&limit=1`);
    expect((json as { result: object[] }).result).toMatchObject([{ type: 'order' }]);
  });

  it('is offered by the administration API, and refused with the names of all kinds where it is another', async () => {
    const of = (kind: string) =>
      send(`${service.url}/admin/v1/applications/acme/shop/records/${kind}/a`, 'GET', {
        user: 'ann',
        password,
      });
    expect((await of('order')).status).toBe(200);
    const refused = await of('orders');
    expect([refused.status, JSON.stringify(refused.json)]).toEqual([400, expect.stringContaining('order')]);
  });

  it('is offered by the console, which asks for the kinds of the service', async () => {
    const { json } = await send(`${service.url}/admin/v1/session`, 'GET', { user: 'ann', password });
    expect(json).toMatchObject({ kinds: ['member', 'product', 'order'] });
  });

  it('is copied by the client, and the copy holds', async () => {
    const target = [
      '--url',
      service.url!,
      ...OF_SHOP,
      '--kind',
      'order',
      '--to',
      join(files, 'orders.sqlite'),
    ];
    const login = { TIDEMARK_USERNAME: 'ann', TIDEMARK_PASSWORD: password };
    const harvest = async (...words: string[]) =>
      run(process.execPath, [join(ROOT, 'client/bin/tidemark-harvest.mjs'), ...words, ...target], {
        env: { ...env, ...login },
      });
    await harvest();
    const { stdout } = await harvest('verify', '--json');
    expect(JSON.parse(stdout)).toMatchObject({ isEqual: true, count: 3, differences: [] });
  });

  it('is counted where an application is removed', async () => {
    const elsewhere = ['--org', 'acme', '--app', 'outlet'];
    await admin('application', 'create', ...elsewhere);
    await orders().insertOne({ organizationid: 'acme', appid: 'outlet', id: 'x', data: {} });
    const { removed } = JSON.parse(
      await admin('application', 'remove', ...elsewhere, '--purge', '--json'),
    ) as {
      removed: object;
    };
    expect(removed).toEqual({ members: 0, orders: 1, products: 0 });
  });

  it('satisfies the conformance kit', async () => {
    await admin('application', 'create', '--org', 'acme', '--app', 'other');
    await importOrders(Array.from({ length: 1001 }, (_, n) => ({ id: `n${n}`, data: { total: n } })));
    const target = ['--url', service.url!, ...OF_SHOP, '--kind', 'order', '--uncovered', 'acme/other'];
    const parts = ['--service', 'large', '--changes', '--digest', '--events', '--json'];
    const command = [join(ROOT, 'conformance/dist/cli.js'), ...target, ...parts];
    const login = { TIDEMARK_USERNAME: 'ann', TIDEMARK_PASSWORD: password };
    const { stdout } = await run(process.execPath, command, { env: { ...env, ...login } });
    const { verdict, checks } = JSON.parse(stdout) as { verdict: string; checks: JudgedCheck[] };
    const notJudged = checks
      .filter(({ outcome }) => outcome === 'not judged')
      .map(({ id, lacks }) => [id, lacks]);
    expect({ verdict, notJudged }).toEqual({ verdict: 'holds', notJudged: [] });
  });

  it('stays ready if an instance that has had no request takes over, which follows its changes at once', async () => {
    await second.stop();
    second = await ServiceProcess.start({ dataDir, environment: { MONGODB_URI: env['MONGODB_URI']! } });
    // Held still, it hears of nothing, and takes the lease that a new kind sets free for a moment no more than others.
    second.pause();
    await admin('kind', 'create', '--name', 'parcel', '--collection', 'parcels');
    const max = (url: string) => send(`${url}/acme/shop/api/v1/parcel/max`, 'GET', { user: 'ann', password });
    await eventually(async () => (await max(service.url!)).status === 200);
    const leases = database.db.collection<{ term: number; kinds: { kind: string }[] }>('tidemark.leases');
    const parcel = async () => (await leases.findOne())?.kinds.find(({ kind }) => kind === 'parcel');
    const [before, term] = [await parcel(), (await leases.findOne())!.term];
    service.pause();
    second.resume();
    try {
      await eventually(async () => (await leases.findOne())!.term > term);
      await database.db.collection('parcels').insertOne({ ...SHOP, id: 'after', data: {} });
      await eventually(async () => {
        const { json } = await max(second.url!);
        const path = `${second.url}/acme/shop/api/v1/parcel/default/updates`;
        const to = (json as { offset?: string }).offset;
        const page = await send(`${path}?to=${to}`, 'GET', { user: 'ann', password });
        return page.status === 200 && idsOf(page.json).includes('after');
      });
      expect(before).toMatchObject({ since: expect.anything() });
      expect(await parcel()).toEqual(before);
    } finally {
      service.resume();
    }
  });
});
