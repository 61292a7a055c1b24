import { type OpenPage, Pages } from '../../src/replication/feed/index.js';
import {
  expectProblem,
  type Item,
  type TestApplication,
  type TestFeed,
  type TestPage,
  TestService,
  WARE,
} from '../support/index.js';

const COUNT = 25;

/** Every page is late: its first byte is not there before its link was asked for. */
function late(open: OpenPage): OpenPage {
  let go: () => void;
  const asked = new Promise<void>((resolve) => (go = resolve));
  const early = () => {
    go();
    return open.early();
  };
  return { ...open, early, page: asked.then(() => open.page) };
}

let service: TestService;
let app: TestApplication;
let to: Date;
beforeAll(async () => {
  service = await TestService.withWares({ SIGN_OF_LIFE_MS: '1' });
  const pages = service.app.get(Pages, { strict: false });
  const open = pages.open.bind(pages);
  jest.spyOn(pages, 'open').mockImplementation(async (...asked) => late(await open(...asked)));
  app = await service.application();
  await app.many(WARE, COUNT, (n) => ({ id: `w${n}`, data: { n } }));
  await app.products(COUNT, (n) => ({ id: `p${n}`, data: { n }, channels: n % 3 === 0 ? ['web'] : [] }));
  for (const kind of ['product', WARE]) await app.filter(kind, 'sevens', { 'data.n': { $mod: [7, 0] } });
  to = await app.max('product');
});
afterAll(() => service.stop());

async function followed(
  feed: TestFeed,
  limit: number,
  behindFirst = () => Promise.resolve(),
): Promise<Item[]> {
  let page: TestPage | undefined = await feed.page({ to, from: '2020-01-01', limit });
  await behindFirst();
  const items: Item[] = [];
  for (; page !== undefined; page = await feed.next(page)) {
    items.push(...page.items);
    expect(page.to).toBe(to.toISOString());
    if (page.items.length === limit) expect(page.answer.headers.get('link')).not.toBeNull();
  }
  return items;
}

describe('a page that is late carries a Link as well: its place is found when it is followed', () => {
  it.each([1, 7, COUNT, COUNT + 1])(
    'who follows links only gets every item once, limit %i',
    async (limit) => {
      const items = await followed(app.feed('product'), limit);
      expect(items.map(({ data }) => data?.['n'])).toEqual(Array.from({ length: COUNT }, (_, n) => n));
    },
  );

  it('in feeds of every sort', async () => {
    const idsOf = (items: Item[]) => items.map(({ id }) => id);
    expect(idsOf(await followed(app.feed('product', 'sevens'), 2))).toEqual(['p0', 'p7', 'p14', 'p21']);
    expect(await followed(app.softDeletes('product', 'sevens'), 4)).toHaveLength(COUNT - 4);
    expect(await followed(app.channel('web'), 3)).toHaveLength(9);
    expect(await followed(app.hardDeletes('product'), 3)).toEqual([]);
    expect(await followed(app.softDeletes('product'), 3)).toEqual([]);
    expect(idsOf(await followed(app.feed(WARE, 'sevens'), 2))).toEqual(['w0', 'w7', 'w14', 'w21']);
    expect(await followed(app.softDeletes(WARE, 'sevens'), 4)).toHaveLength(COUNT - 4);
    expect(await followed(app.hardDeletes(WARE), 3)).toEqual([]);
  });

  it('nextoffsetid leads to the same page', async () => {
    const feed = app.feed('product');
    const page = await feed.page({ to, limit: 5 });
    expect(page.answer.text).toMatch(/^ +\{/);
    const byLink = await feed.next(page);
    const byId = await feed.page({ to, limit: 5, lastoffsetid: page.nextoffsetid });
    expect(byLink?.ids).toEqual(byId.ids);
  });

  it('what changes meanwhile is passed over by nobody', async () => {
    const items = await followed(app.feed('product'), 10, async () => {
      await service.db
        .collection('products')
        .updateMany(
          { ...app.tenant, 'data.n': { $lt: 5 } },
          { $set: { touched: true }, $currentDate: { lastupdated: true } },
        );
      await service.watcher.caughtUp();
    });
    expect(items).toHaveLength(COUNT);
  });

  it('where another moment is shown nothing is counted: items come twice instead of being passed over', async () => {
    const other = `3-${'0'.repeat(16)}`;
    const answer = await app.feed('product').ask({ to: to.toISOString(), limit: '5', behind: other });
    const { result } = answer.json as { result: Item[] };
    expect(result.map(({ id }) => id)).toEqual(['p0', 'p1', 'p2', 'p3', 'p4']);
  });
});

describe('behind: of a Link', () => {
  const wrong = ['', '5', '0-0000000000000000', '1000001-0000000000000000', '5-xyz', `-1-${'0'.repeat(16)}`];
  it.each([...wrong, `${'9'.repeat(100)}-${'0'.repeat(16)}`])('400 for %j', async (behind) => {
    const answer = await app.feed('product').ask({ to: to.toISOString(), behind });
    const shown = behind.length > 80 ? `${behind.slice(0, 80)}…` : behind;
    expect(expectProblem(answer, 400, 'invalid-request').errors).toEqual([
      {
        parameter: 'behind',
        detail: `"${shown}" is not a place. Follow the Link of the previous page unchanged.`,
      },
    ]);
  });
});

it('the link of a late page holds in every instance', async () => {
  const other = await service.another();
  const page = await app.feed('product').page({ to, limit: 5 });
  const next = await app.seenBy(other).feed('product').next(page);
  expect(next?.ids).toEqual(['p5', 'p6', 'p7', 'p8', 'p9']);
  await other.leave();
});
