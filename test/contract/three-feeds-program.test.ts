import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { PASSWORD, type Stored, type TestApplication, TestService } from '../support/index.js';
import { json, Served } from '../unit/client/served.js';

const PROGRAM = resolve('examples/three-feeds/copy.mjs');
/** Half of them are more than a page. */
const COUNT = 2400;

interface HeldItem {
  id: string;
  lastupdated: string;
  data: { category: string; price?: number };
}

let service: TestService;
let app: TestApplication;
let products: Stored[];
let directory: string;
beforeAll(async () => {
  service = await TestService.shared();
  app = await service.application();
  await app.filter('product', 'bikes', { 'data.category': 'bikes' });
  products = await app.products(COUNT, (n) => ({
    id: `p${n}`,
    data: { category: n % 2 ? 'bikes' : 'tents' },
  }));
  directory = await mkdtemp(join(tmpdir(), 'tidemark-three-feeds-'));
});
afterAll(async () => {
  await rm(directory, { recursive: true });
});

async function harvest(login: Record<string, string> = {}): Promise<HeldItem[]> {
  await service.watcher.caughtUp();
  const env = {
    ...process.env,
    ...{ TIDEMARK_FEED: `${service.url}/${app.organizationid}/${app.appid}/api/v1/product` },
    ...{ TIDEMARK_USER: app.user('read'), TIDEMARK_PASSWORD: PASSWORD, TIDEMARK_SERVICE: 'bikes', ...login },
  };
  await promisify(execFile)(process.execPath, [PROGRAM], { cwd: directory, env });
  const { items } = JSON.parse(await readFile(join(directory, 'copy.json'), 'utf8')) as { items: HeldItem[] };
  return items.sort(byId);
}

const byId = (one: { id: string }, other: { id: string }) => (one.id < other.id ? -1 : 1);

async function source(): Promise<HeldItem[]> {
  const all = await service.db
    .collection('products')
    .find({ ...app.tenant, 'data.category': 'bikes' })
    .toArray();
  return all
    .map(({ id, lastupdated, data }) => ({ id, lastupdated: (lastupdated as Date).toISOString(), data }))
    .sort(byId);
}

const shown = (items: HeldItem[]) => items.map(({ id, lastupdated, data }) => ({ id, lastupdated, data }));

describe('the program of docs/consuming.md over the three feeds', () => {
  it('is the one of examples/', async () => {
    expect(await readFile('docs/consuming.md', 'utf8')).toContain(
      `\n\`\`\`js\n${await readFile(PROGRAM, 'utf8')}\`\`\`\n`,
    );
  });

  it('copies all, and then what was edited, left the filter, came back or was deleted', async () => {
    expect(shown(await harvest())).toEqual(await source());
    const [, edited, tent, left, , gone] = products as Required<Stored>[];
    await app.change('product', edited!, { $set: { 'data.price': 7 } });
    await app.change('product', tent!, { $set: { 'data.category': 'bikes' } });
    await app.change('product', left!, { $set: { 'data.category': 'tents' } });
    await app.remove('product', gone!);
    const copy = shown(await harvest());
    expect(copy).toEqual(await source());
    expect(copy).toHaveLength(COUNT / 2 - 1);
  });

  it('on 410 reads all anew, and keeps nothing that is gone', async () => {
    await app.remove('product', products[7]!);
    await app.max('product');
    const tombstones = service.db.collection('tidemark.ledger');
    const dead = { ...app.tenant, kind: 'product', alive: false };
    const [last] = await tombstones.find(dead).sort({ lastupdated: -1 }).limit(1).toArray();
    await tombstones.deleteMany(dead);
    const horizons = service.db.collection<{ _id: object; lastupdated: Date }>('tidemark.horizons');
    const { organizationid, appid } = app;
    const _id = { organizationid, appid, kind: 'product' };
    await horizons.insertOne({ _id, lastupdated: last!['lastupdated'] as Date });
    const copy = shown(await harvest());
    expect(copy).toEqual(await source());
    expect(copy.some(({ id }) => id === 'p7')).toBe(false);
  });

  it('leaves alone what is newer than what comes late', async () => {
    const held = { id: 'p1', lastupdated: '2026-11-20T10:00:02.000Z', data: { category: 'bikes' } };
    const late = '2026-11-20T10:00:01.000Z';
    const page = (item: object) => [
      json({ result: [item], nextoffsetid: 'a'.repeat(24) }),
      json({ result: [], nextoffsetid: '' }),
    ];
    const served = await Served.start(
      json({ offset: '2026-11-20T10:00:03.000Z' }),
      ...page({ ...held, lastupdated: late, data: { category: 'old' } }),
      ...page({ id: 'p1', lastUpdated: late }),
      ...page({ id: 'p1', lastUpdated: late }),
    );
    await writeFile(join(directory, 'copy.json'), JSON.stringify({ from: late, items: [held] }));
    try {
      expect(await harvest({ TIDEMARK_FEED: served.url })).toEqual([held]);
    } finally {
      await served.stop();
    }
    expect(served.paths).toHaveLength(7);
  });

  it('reads all anew where `max` stays below its `from`: the database was restored', async () => {
    const early = '2026-11-20T10:00:01.000Z';
    const held = { id: 'lost', lastupdated: '2026-11-20T10:00:02.000Z', data: { category: 'bikes' } };
    const kept = { ...held, id: 'kept', lastupdated: early };
    const empty = () => json({ result: [], nextoffsetid: '' });
    const page = json({ result: [kept], nextoffsetid: 'a'.repeat(24) });
    const max = () => json({ offset: early });
    const served = await Served.start(max(), max(), max(), max(), page, empty(), empty(), empty());
    const copy = { from: held.lastupdated, items: [held] };
    await writeFile(join(directory, 'copy.json'), JSON.stringify(copy));
    try {
      expect(await harvest({ TIDEMARK_FEED: served.url })).toEqual([kept]);
    } finally {
      await served.stop();
    }
    expect(served.paths.filter((path) => path.includes('from='))).toEqual([]);
  });

  it('keeps its copy where a `max` lies below its `from` only once: another server knows less', async () => {
    const [early, from, late] = [1, 2, 3].map((second) => `2026-11-20T10:00:0${second}.000Z`);
    const held = { id: 'held', lastupdated: from!, data: { category: 'bikes' } };
    const max = (offset: string) => json({ offset });
    const empty = () => json({ result: [], nextoffsetid: '' });
    const served = await Served.start(max(early!), max(late!), empty(), empty(), empty());
    await writeFile(join(directory, 'copy.json'), JSON.stringify({ from, items: [held] }));
    try {
      expect(await harvest({ TIDEMARK_FEED: served.url })).toEqual([held]);
    } finally {
      await served.stop();
    }
    expect(served.paths.filter((path) => path.includes('from='))).toHaveLength(3);
  });

  it('stores nothing where it is refused, and says why', async () => {
    const before = await readFile(join(directory, 'copy.json'), 'utf8');
    await expect(harvest({ TIDEMARK_PASSWORD: 'wrong' })).rejects.toThrow(/Error: 401 \S/);
    expect(await readFile(join(directory, 'copy.json'), 'utf8')).toBe(before);
  });
});
