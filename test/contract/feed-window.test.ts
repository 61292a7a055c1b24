import type { Kind } from '../../src/kinds/index.js';
import {
  FEED_PATHS,
  KINDS_AND_WARES,
  pathFor,
  type TestApplication,
  TestService,
  WARE_PATHS,
} from '../support/index.js';

const T = Date.parse('2025-03-04T05:06:07.008Z');
const at = (milliseconds: number) => new Date(T + milliseconds);
const CLOCK_SLACK_MS = 60_000;

let service: TestService;
beforeAll(async () => {
  service = await TestService.withWares();
});
afterAll(() => service.stop());

/** Records one millisecond apart, named by their distance from T. */
async function apart(app: TestApplication, kind: Kind): Promise<void> {
  for (const ms of [-1, 0, 1, 2, 3]) await app.put(kind, { id: String(ms), lastupdated: at(ms) });
}

describe.each(KINDS_AND_WARES)('to (required, lastupdated <= to) and from (%s feeds)', (kind) => {
  let app: TestApplication;
  beforeAll(async () => {
    app = await service.application();
    await apart(app, kind);
    await app.filter(kind, 'none', { id: 'no such record' });
  });

  it('to: lastupdated <= to, at the millisecond', async () => {
    expect((await app.feed(kind).page({ to: at(1) })).ids).toEqual(['-1', '0', '1']);
    expect((await app.feed(kind).page({ to: at(2) })).ids).toEqual(['-1', '0', '1', '2']);
  });

  it('from: lastupdated > from, at the millisecond', async () => {
    expect((await app.feed(kind).page({ from: at(0), to: at(3) })).ids).toEqual(['1', '2', '3']);
    expect((await app.feed(kind).page({ from: at(-1), to: at(2) })).ids).toEqual(['0', '1', '2']);
  });

  it('softdeletes have the same edges', async () => {
    expect((await app.softDeletes(kind, 'none').page({ from: at(0), to: at(2) })).ids).toEqual(['1', '2']);
  });

  it('a window of one millisecond holds what is stamped at its end', async () => {
    expect((await app.feed(kind).page({ from: at(1), to: at(2) })).ids).toEqual(['2']);
  });

  it('adjoining windows deliver every record once', async () => {
    const windows = [
      [-2, 0],
      [0, 1],
      [1, 3],
    ] as const;
    const drained = [];
    for (const [from, to] of windows)
      drained.push(...(await app.feed(kind).drain({ from: at(from), to: at(to) })));
    expect(drained.map((item) => item.id)).toEqual(['-1', '0', '1', '2', '3']);
  });

  it('from and to are cut to ms', async () => {
    const page = await app
      .feed(kind)
      .page({ from: '2025-03-04T05:06:07.008999999Z', to: '2025-03-04T05:06:07.009999Z' });
    expect(page.ids).toEqual(['1']);
    expect(page.to).toBe('2025-03-04T05:06:07.009Z');
  });
});

describe('harddeletes have the same edges', () => {
  it('from < lastUpdated <= to, at the millisecond', async () => {
    const app = await service.application();
    await app.remove('product', await app.product({ id: 'gone' }));
    const stamp = await app.max('product');
    const around = (ms: number) => new Date(stamp.getTime() + ms);
    const feed = app.hardDeletes('product');
    expect((await feed.page({ from: around(-1), to: stamp })).ids).toEqual(['gone']);
    expect((await feed.page({ from: stamp, to: around(1) })).ids).toEqual([]);
    expect((await feed.page({ from: around(-2), to: around(-1) })).ids).toEqual([]);
  });
});

describe('from >= to is no error: an empty page', () => {
  it.each([
    ['from = to', 0],
    ['from > to', 1],
  ])('%s', async (_name, ms) => {
    const app = await service.application();
    await apart(app, 'product');
    await app.filter('product', 'none', { id: 'no such record' });
    for (const feed of [
      app.feed('product'),
      app.softDeletes('product', 'none'),
      app.hardDeletes('product'),
    ]) {
      const page = await feed.page({ from: at(ms), to: at(0) });
      expect(page.answer.json).toEqual({ result: [], nextoffsetid: '' });
      expect(page.to).toBe(at(0).toISOString());
    }
  });
});

describe("a to later than the database's clock is read as that clock (200)", () => {
  let app: TestApplication;
  beforeAll(async () => {
    app = await service.application();
    await app.product({ channels: ['web'] });
  });

  it.each([...FEED_PATHS, ...WARE_PATHS])(
    'the header Tidemark-To tells the to that was used: %s',
    async (path) => {
      const before = Date.now();
      const answer = await app.get(pathFor(path), { query: { to: '9999-12-31T23:59:59.999Z' } });
      expect(answer.status).toBe(200);
      const used = answer.headers.get('tidemark-to') ?? '';
      expect(used).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
      expect(Math.abs(Date.parse(used) - before)).toBeLessThan(CLOCK_SLACK_MS);
    },
  );

  it.each([...FEED_PATHS, ...WARE_PATHS])(
    'Tidemark-To is on every page, with a to of the past as it came: %s',
    async (path) => {
      const answer = await app.get(pathFor(path), { query: { to: '2025-03-04T06:06:07.0089+01:00' } });
      expect(answer.status).toBe(200);
      expect(answer.headers.get('tidemark-to')).toBe(at(0).toISOString());
    },
  );

  it('a from a little beyond the clock gives an empty page whose Tidemark-To is the clock', async () => {
    const empty = await service.application();
    const before = Date.now();
    const page = await empty.feed('product').page({ from: new Date(before + 2000) });
    expect(page.ids).toEqual([]);
    expect(Math.abs(Date.parse(page.to) - before)).toBeLessThan(CLOCK_SLACK_MS);
  });
});

describe('a harvest sends the Tidemark-To of its first page as to of all further pages and feeds', () => {
  it('what changes meanwhile is in the next harvest, and nothing twice', async () => {
    const app = await service.application();
    await app.products(3);
    const first = await app.feed('product').page({ limit: 2 });
    const late = await app.product({ lastupdated: new Date(Date.parse(first.to) + 1) });
    const rest = await app.feed('product').page({ to: first.to, lastoffsetid: first.nextoffsetid });
    const next = await app.feed('product').page({ from: first.to });
    expect([first.ids.length, rest.ids.length]).toEqual([2, 1]);
    expect(next.ids).toEqual([late['id']]);
  });
});
