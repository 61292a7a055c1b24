import { expectProblem, type Item, type TestApplication, TestService } from '../support/index.js';

const MARK_WAIT_MS = 4000;
const FAR = '9999-01-01T00:00:00.000Z';

let service: TestService;
let app: TestApplication;
beforeAll(async () => {
  service = await TestService.withWares({ MARK_WAIT: String(MARK_WAIT_MS) });
});
beforeEach(async () => {
  app = await service.application();
  await app.products(3, (n) => ({ id: `p${n}` }));
});
afterAll(() => service.stop());

/** The database's clock, some milliseconds ahead. */
async function ahead(ms: number): Promise<string> {
  const { localTime } = (await service.db.admin().command({ hello: 1 })) as { localTime: Date };
  return new Date(localTime.getTime() + ms).toISOString();
}

const raises = async () => {
  const mark = await service.db.collection('tidemark.marks').findOne({ '_id.appid': app.appid });
  return (mark?.['raises'] as number | undefined) ?? 0;
};

describe('a generic tool repeats its first parameters on each page, and keeps the greatest lastupdated', () => {
  /** The copy of such a tool; `refused` where a page is answered 400, which stops it and tells somebody. */
  class Tool {
    readonly copy = new Map<string, unknown>();
    refused = false;
    private state: string | undefined;

    /** One run; something happens behind its first page. */
    async run(to: string, behindFirst: () => Promise<unknown>): Promise<void> {
      for (let lastoffsetid: string | undefined, last = this.state; ;) {
        const query = { to, limit: '2', from: this.state, lastoffsetid };
        const answer = await app.get('product/default/updates', { query });
        if (answer.status === 400) {
          this.refused = true;
          return;
        }
        const { result, nextoffsetid } = answer.json as { result: Item[]; nextoffsetid: string };
        for (const { id, data, lastupdated = '' } of result) {
          this.copy.set(id, data?.['n']);
          if (last === undefined || lastupdated > last) last = lastupdated;
        }
        if (nextoffsetid === '') {
          this.state = last;
          return;
        }
        if (lastoffsetid === undefined) await behindFirst();
        lastoffsetid = nextoffsetid;
      }
    }
  }

  /** Changes all records: one behind the paging position is not read again in this run, others after it are. */
  async function changeAll(): Promise<void> {
    for (const id of ['p0', 'p1', 'p2'])
      await service.db
        .collection('products')
        .updateOne({ ...app.tenant, id }, { $set: { 'data.n': 1 }, $currentDate: { lastupdated: true } });
    await service.watcher.caughtUp();
  }

  it.each([
    ['far ahead: it is refused at its second page, and told what to send', () => FAR, true],
    ['a little ahead, as a fast clock is: it loses nothing', () => ahead(1000), false],
  ])('%s', async (_name, futureTo, isRefused) => {
    const tool = new Tool();
    await tool.run(await futureTo(), changeAll);
    if (!tool.refused) {
      await tool.run(await ahead(0), () => Promise.resolve());
      expect([...tool.copy]).toEqual(['p0', 'p1', 'p2'].map((id) => [id, 1]));
    }
    expect(tool.refused).toBe(isRefused);
  });
});

describe('a to at most MARK_WAIT ahead is waited for', () => {
  it('by all pages: Tidemark-To is what was asked, and a moment that reaches it is shown', async () => {
    const to = await ahead(1000);
    const page = await app.feed('product').page({ to, limit: 2 });
    expect([page.to, page.ids]).toEqual([to, ['p0', 'p1']]);
    expect((await ahead(0)) >= to).toBe(true);
    const rest = await app.feed('product').page({ to, limit: 2, lastoffsetid: page.nextoffsetid });
    expect([rest.to, rest.ids]).toEqual([to, ['p2']]);
  });

  it('also together with lastoffsetid', async () => {
    const to = await ahead(500);
    const page = await app.feed('product').page({ to, lastoffsetid: '0'.repeat(24) });
    expect([page.to, page.ids.length]).toEqual([to, 3]);
  });

  it('without raising the mark again and again, however many wait', async () => {
    const to = await ahead(1000);
    const before = await raises();
    await Promise.all(Array.from({ length: 10 }, () => app.feed('product').page({ to })));
    const needed = 1;
    const whereTheClockIsRead10MsApart = 2;
    expect((await raises()) - before).toBeLessThanOrEqual(needed + whereTheClockIsRead10MsApart);
  });
});

describe('one further ahead', () => {
  it('is read as the clock on a first page, with an empty lastoffsetid too', async () => {
    for (const lastoffsetid of [undefined, ''])
      for (const to of [FAR, await ahead(10 * MARK_WAIT_MS)]) {
        const page = await app
          .feed('product')
          .page({ to, ...(lastoffsetid !== undefined && { lastoffsetid }) });
        expect(page.ids).toHaveLength(3);
        expect(page.to <= (await ahead(0))).toBe(true);
      }
  });

  it.each([
    ['product/default/updates'],
    ['product/harddeletes'],
    ['product/default/softdeletes'],
    ['product/nobody/updates'],
    ['ware/default/updates'],
  ])('400 together with lastoffsetid: %s', async (path) => {
    const answer = await app.get(path, { query: { to: FAR, lastoffsetid: '0'.repeat(24) } });
    const { errors } = expectProblem(answer, 400, 'invalid-request');
    expect(errors).toEqual([
      {
        parameter: 'to',
        detail:
          `"${FAR}" lies in the future. Send the Tidemark-To of the first page, ` +
          'such as to=2026-11-20T10:00:00.000Z.',
      },
    ]);
  });

  it('200 where it was announced, by a server whose clock was faster', async () => {
    const [first] = (await app.feed('product').page({ limit: 1 })).items;
    const announced = await ahead(3600_000);
    await service.db
      .collection<{ _id: object }>('tidemark.marks')
      .updateOne({ '_id.appid': app.appid }, { $set: { fence: new Date(announced) } });
    expect(first?.id).toBe('p0');
    const page = await app.feed('product').page({ to: announced, lastoffsetid: '0'.repeat(24) });
    expect([page.to, page.ids.length]).toEqual([announced, 3]);
  });
});
