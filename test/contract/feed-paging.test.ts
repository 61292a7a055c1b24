import type { mongo } from 'mongoose';
import type { Stored, TestApplication, TestFeed, TestPage } from '../support/index.js';
import { TestService, WARE } from '../support/index.js';

const ONE_REPLY_OF_MONGODB = 16 * 1024 * 1024;

let service: TestService;
beforeAll(async () => {
  service = await TestService.withWares();
});
afterAll(() => service.stop());

/** All pages of a feed, following the links exactly as they are given, then the page behind the last. */
async function pagesOf(feed: TestFeed, limit?: number): Promise<TestPage[]> {
  const pages = [await feed.page(limit === undefined ? {} : { limit })];
  for (;;) {
    const next = await feed.next(pages.at(-1)!);
    if (next === undefined) return pages;
    pages.push(next);
  }
}

const idsOf = (records: mongo.Document[]) => records.map((record) => record['id'] as string);
const hexOf = (record: Stored | undefined) => record?._id.toHexString() ?? '';

describe.each(['product', WARE])(
  'envelope of %s: {"result": [...], "nextoffsetid": "<24 hex digits>"}',
  (kind) => {
    let app: TestApplication;
    let records: Stored[];
    beforeAll(async () => {
      app = await service.application();
      records = await app.many(kind, 3);
    });

    it('nextoffsetid is the internal document id (_id) of the last item', async () => {
      const page = await app.feed(kind).page({ limit: 2 });
      expect(page.ids).toEqual(idsOf(records.slice(0, 2)));
      expect(page.nextoffsetid).toBe(hexOf(records[1]));
      const last = await app.feed(kind).page({ to: page.to, limit: 2, lastoffsetid: page.nextoffsetid });
      expect(last.ids).toEqual(idsOf(records.slice(2)));
      expect(last.nextoffsetid).toBe(hexOf(records[2]));
    });

    it('and "" on an empty page, so that loops of both kinds end', async () => {
      const to = await app.max(kind);
      const empty = await app.feed(kind).page({ to, lastoffsetid: hexOf(records[2]) });
      expect(empty.answer.text).toBe('{"result":[],"nextoffsetid":""}\n');
      expect(empty.answer.headers.get('link')).toBeNull();
    });

    it('to envelope nothing is added', async () => {
      const { answer } = await app.feed(kind).page();
      expect(Object.keys(answer.json as object)).toEqual(['result', 'nextoffsetid']);
      expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
    });

    it('lastoffsetid: _id > lastoffsetid, result ordered by _id', async () => {
      const shuffled = await service.application();
      const stamps = [3, 1, 2].map((second) => new Date(Date.UTC(2025, 0, 1, 0, 0, second)));
      const [first, second, third] = await shuffled.many(kind, 3, (index) => ({
        lastupdated: stamps[index],
      }));
      for (const window of [{}, { from: '2024-12-31' }]) {
        expect((await shuffled.feed(kind).page(window)).ids).toEqual(idsOf([first!, second!, third!]));
        const to = await shuffled.max(kind);
        const behind = await shuffled.feed(kind).page({ ...window, to, lastoffsetid: hexOf(first) });
        expect(behind.ids).toEqual(idsOf([second!, third!]));
      }
    });

    it('lastoffsetid need not be the _id of a record', async () => {
      const feed = app.feed(kind);
      const to = await app.max(kind);
      expect((await feed.page({ to, lastoffsetid: '0'.repeat(24) })).ids).toEqual(idsOf(records));
      expect((await feed.page({ to, lastoffsetid: 'f'.repeat(24) })).ids).toEqual([]);
    });
  },
);

describe.each(['product', WARE])('no page of %ss but the last is shorter than limit', (kind) => {
  it.each([
    [0, [0]],
    [1, [1]],
    [2, [2]],
    [999, [999]],
    [1000, [1000, 0]],
    [1001, [1000, 1]],
  ])('%i records with the limit of 1000 that is the default', async (count, sizes) => {
    const app = await service.application();
    const records = count === 0 ? [] : await app.many(kind, count);
    const pages = await pagesOf(app.feed(kind));
    expect(pages.map((page) => page.ids.length)).toEqual(sizes);
    expect(pages.flatMap((page) => page.ids)).toEqual(idsOf(records));
    expect(pages.map((page) => page.nextoffsetid !== '')).toEqual(sizes.map((size) => size > 0));
    expect((await app.feed(kind).drain()).length).toBe(count);
  });

  it.each([1, 2, 3, 7])('7 records with limit %i, in feeds of every sort', async (limit) => {
    const app = await service.application();
    const records = await app.many(kind, 7, (index) =>
      kind === 'product' ? { channels: index === 3 ? [] : ['web'] } : {},
    );
    await app.filter(kind, 'odd', { id: { $in: idsOf(records.filter((_record, n) => n % 2 === 1)) } });
    const feeds: [TestFeed, number][] = [
      [app.feed(kind), 7],
      [app.feed(kind, 'odd'), 3],
      [app.softDeletes(kind, 'odd'), 4],
      ...(kind === 'product' ? [[app.channel('web'), 6] satisfies [TestFeed, number]] : []),
    ];
    for (const [feed, count] of feeds) {
      const sizes = (await pagesOf(feed, limit)).map((page) => page.ids.length);
      const full = Math.floor(count / limit);
      expect(sizes).toEqual([...Array.from({ length: full }, () => limit), count % limit]);
    }
  });

  it('harddeletes are paged alike', async () => {
    const app = await service.application();
    const records = await app.many(kind, 3);
    await service.watcher.caughtUp();
    await service.records(kind).deleteMany(app.tenant);
    await service.watcher.caughtUp();
    const pages = await pagesOf(app.hardDeletes(kind), 2);
    expect(pages.map((page) => page.ids.length)).toEqual([2, 1]);
    expect(pages.flatMap((page) => page.ids).sort()).toEqual(idsOf(records).sort());
  });

  it.each([
    [1000, 20_000],
    [200, 100_000],
  ])(
    '%i records of %i bytes are one page, though MongoDB never sends more than 16 MB at once',
    async (limit, bytes) => {
      const app = await service.application();
      const blob = 'x'.repeat(bytes);
      const records = await app.many(kind, limit + 1, () => ({ data: { blob } }));
      const [page, last] = await pagesOf(app.feed(kind), limit);
      expect(page?.answer.text.length).toBeGreaterThan(ONE_REPLY_OF_MONGODB);
      expect(page?.ids).toEqual(idsOf(records.slice(0, limit)));
      expect(page?.items.every((item) => item.data?.['blob'] === blob)).toBe(true);
      expect(last?.ids).toEqual(idsOf(records.slice(limit)));
    },
  );
});

describe('while a page is full, a Link: <…>; rel="next" header too', () => {
  it('carries from, to, limit and lastoffsetid of the next page', async () => {
    const app = await service.application();
    const records = await app.products(3);
    const from = '2025-01-01T00:00:00.000Z';
    const page = await app.feed('product').page({ from, limit: 2 });
    const link = /^<(.+)>; rel="next"$/.exec(page.answer.headers.get('link') ?? '')?.[1];
    const url = new URL(link ?? '', app.urlOf('api/v1/product/default/updates'));
    const { organizationid, appid } = app.tenant;
    expect(url.pathname).toBe(`/${organizationid}/${appid}/api/v1/product/default/updates`);
    expect(Object.fromEntries(url.searchParams)).toEqual({
      from,
      to: page.to,
      limit: '2',
      lastoffsetid: hexOf(records[1]),
    });
  });

  it('leaves out a from that was not sent', async () => {
    const app = await service.application();
    await app.product();
    const page = await app.feed('product').page({ limit: 1 });
    expect(page.answer.headers.get('link')).not.toContain('from');
  });

  it('and to stays the Tidemark-To of the first page', async () => {
    const app = await service.application();
    await app.products(3);
    const pages = await pagesOf(app.feed('product'), 1);
    expect(pages.map((page) => page.to)).toEqual(pages.map(() => pages[0]?.to));
  });

  it('is missing on a page that is not full', async () => {
    const app = await service.application();
    await app.products(3);
    expect((await app.feed('product').page({ limit: 4 })).answer.headers.get('link')).toBeNull();
    expect((await app.feed('product').page({ limit: 3 })).answer.headers.get('link')).not.toBeNull();
  });
});
