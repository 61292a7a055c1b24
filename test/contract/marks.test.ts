import type { mongo } from 'mongoose';
import {
  eventually,
  expectProblem,
  type TestApplication,
  TestService,
  withoutWatcher,
} from '../support/index.js';

let service: TestService;
let app: TestApplication;
beforeAll(async () => {
  service = await TestService.start({ MARK_WAIT: '2000' });
});
beforeEach(async () => {
  app = await service.application();
});
afterAll(() => service.stop());

interface Mark {
  _id: mongo.Document;
  fence: Date;
  raises: number;
}

const marks = () => service.db.collection<Mark>('tidemark.marks');
const raises = async () => (await marks().findOne({ '_id.appid': app.appid }))?.raises ?? 0;
const products = () => service.db.collection('products');

/** A change that is committed long after its stamp was taken: everything may happen in `meanwhile`. */
async function committedLate(
  change: (session: mongo.ClientSession) => Promise<unknown>,
  meanwhile: () => Promise<unknown>,
): Promise<void> {
  const session = service.client.startSession();
  session.startTransaction();
  await change(session);
  await meanwhile();
  await session.commitTransaction();
  await session.endSession();
}

describe('a consumer that follows the harvest procedure loses no change', () => {
  /** Reads up to max, lets something happen, and answers what the next harvest brings. */
  async function nextHarvest(work: () => Promise<unknown>): Promise<{ ids: string[]; gone: string[] }> {
    const from = await app.max('product');
    await work();
    await service.watcher.caughtUp();
    const to = await app.max('product');
    const ids = (await app.feed('product').drain({ from, to })).map(({ id }) => id);
    const gone = (await app.hardDeletes('product').drain({ from, to })).map(({ id }) => id);
    return { ids, gone };
  }

  it('a write stamped before a slower one commits', async () => {
    await app.put('product');
    let from = new Date(0);
    const _id = (await app.put('product', { id: 'slow' }))._id;
    await committedLate(
      (session) => products().updateOne({ _id }, [{ $set: { n: 1, lastupdated: '$$NOW' } }], { session }),
      async () => {
        const lastupdated = new Date(Date.now() + 100);
        await app.put('product', { id: 'quick', lastupdated });
        await eventually(async () => (from = await app.max('product')) >= lastupdated);
      },
    );
    await service.watcher.caughtUp();
    const items = await app.feed('product').drain({ from });
    expect(items.map(({ id }) => id)).toContain('slow');
  });

  it('another program leaves the stamp alone', async () => {
    const { _id } = await app.put('product', { id: 'a' });
    const { ids } = await nextHarvest(() => products().updateOne({ _id }, { $set: { 'data.n': 2 } }));
    expect(ids).toEqual(['a']);
  });

  it('another program writes a stamp of its own, of the past', async () => {
    const { ids } = await nextHarvest(() => app.put('product', { id: 'a', lastupdated: new Date(5) }));
    expect(ids).toEqual(['a']);
  });

  it('a record is replaced by one that has an old stamp', async () => {
    const { _id } = await app.put('product', { id: 'a' });
    const { ids } = await nextHarvest(() =>
      products().replaceOne({ _id }, { ...app.tenant, id: 'a', lastupdated: new Date(5) }),
    );
    expect(ids).toEqual(['a']);
  });

  it('a delete in a quiet collection', async () => {
    const { _id } = await app.put('product', { id: 'a' });
    const { ids, gone } = await nextHarvest(() => products().deleteOne({ _id }));
    expect([ids, gone]).toEqual([[], ['a']]);
  });

  it('an id that is deleted and comes back with an old stamp: the record, and no delete', async () => {
    const { _id } = await app.put('product', { id: 'a' });
    const first = await nextHarvest(() => products().deleteOne({ _id }));
    expect(first.gone).toEqual(['a']);
    const { ids, gone } = await nextHarvest(() => app.put('product', { id: 'a', lastupdated: new Date(5) }));
    expect([ids, gone]).toEqual([['a'], []]);
  });

  it('an id that a record moves to after another has died under it: stamped above the tombstone', async () => {
    const dead = await app.put('product', { id: 'a' });
    const moved = await app.put('product', { id: 'b' });
    await app.remove('product', dead);
    const [tombstone] = (await app.hardDeletes('product').page()).items;
    await products().updateOne({ _id: moved._id }, { $set: { id: 'a', lastupdated: new Date(5) } });
    await service.watcher.caughtUp();
    const [item] = (await app.feed('product').page()).items;
    expect(item?.id).toBe('a');
    expect(Date.parse(item?.lastupdated ?? '')).toBeGreaterThan(Date.parse(tombstone?.lastUpdated ?? ''));
    expect((await app.hardDeletes('product').page()).ids).toEqual(['b']);
  });

  it('two records swap their ids in one transaction', async () => {
    const [a, b] = [await app.put('product', { id: 'a' }), await app.put('product', { id: 'b' })];
    const { ids, gone } = await nextHarvest(() =>
      committedLate(
        async (session) => {
          await products().updateOne({ _id: a._id }, { $set: { id: 'z' } }, { session });
          await products().updateOne({ _id: b._id }, { $set: { id: 'a' } }, { session });
          await products().updateOne({ _id: a._id }, { $set: { id: 'b' } }, { session });
        },
        () => Promise.resolve(),
      ),
    );
    expect(ids.sort()).toEqual(['a', 'b']);
    expect(gone).toEqual(['z']);
  });
});

describe('a change of emailkey alone is no change', () => {
  it('the member keeps its stamp', async () => {
    const lastupdated = new Date(Date.now() - 1000);
    const { _id } = await app.put('member', { data: { email: 'Ada@example.org' }, lastupdated });
    await app.max('member');
    await app.change('member', { _id }, { $unset: { emailkey: '' } });
    await service.watcher.caughtUp();
    await service.watcher.caughtUp();
    const stored = await service.db.collection('members').findOne({ _id });
    expect([stored?.['emailkey'], stored?.['lastupdated']]).toEqual(['ada@example.org', lastupdated]);
  });
});

/** As the watcher does, which then is slow with all else. */
async function tellHead(stamp: Date): Promise<void> {
  const mark = { ...app.tenant, kind: 'product' };
  await service.db
    .collection<{ _id: object }>('tidemark.heads')
    .updateOne({ _id: mark }, { $max: { stamp } }, { upsert: true });
  await service.heard();
}

describe('max raises the mark only where something beats the last answer', () => {
  it('calls that raise nothing write nothing', async () => {
    await app.put('product');
    const first = await app.max('product');
    const before = await raises();
    for (let turn = 0; turn < 5; turn += 1) expect(await app.max('product')).toEqual(first);
    expect(await raises()).toBe(before);
  });

  it('many callers share a raise', async () => {
    await app.put('product');
    const before = await raises();
    await Promise.all(Array.from({ length: 30 }, () => app.max('product')));
    expect((await raises()) - before).toBeLessThanOrEqual(3);
  });

  it('none again until the watcher has passed it; whoever waits in vain gets the last passed answer', async () => {
    await app.put('product');
    const known = await app.max('product');
    await withoutWatcher(service, async () => {
      const lastupdated = new Date();
      await app.put('product', { lastupdated });
      await tellHead(lastupdated);
      const before = await raises();
      for (let turn = 0; turn < 3; turn += 1) expect(await app.max('product')).toEqual(known);
      expect((await raises()) - before).toBe(1);
    });
  });
});

describe('503 not-watched where nobody watches: consumers wait instead of receiving what could vanish', () => {
  it('a window up to now, and max where there is no answer yet', async () => {
    await withoutWatcher(service, async () => {
      for (const answer of [await app.feed('product').ask(), await app.get('product/max')]) {
        expectProblem(answer, 503, 'not-watched');
        expect(answer.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
      }
    });
    await service.watcher.caughtUp();
    expect((await app.feed('product').ask()).status).toBe(200);
  });

  it('what was passed before is shown all the while', async () => {
    await app.put('product', { id: 'a' });
    const to = await app.max('product');
    await withoutWatcher(service, async () => {
      expect((await app.feed('product').page({ to })).ids).toEqual(['a']);
    });
  });
});

describe('every page is as of one moment', () => {
  it('pages of one harvest neither repeat nor skip while everything is rewritten', async () => {
    await app.products(40, (n) => ({ id: `p${n}` }));
    const to = await app.max('product');
    const ids: string[] = [];
    let lastoffsetid = '';
    do {
      const page = await app.feed('product').page({ to, limit: 7, lastoffsetid });
      ids.push(...page.ids);
      lastoffsetid = page.nextoffsetid;
      await products().updateMany(app.tenant, [{ $set: { lastupdated: '$$NOW' } }]);
      await app.max('product');
    } while (lastoffsetid !== '');
    expect(ids.sort()).toEqual(Array.from({ length: 40 }, (_, n) => `p${n}`).sort());
  });

  it('a record deleted meanwhile is still shown with the harvest it belongs to', async () => {
    const record = await app.put('product', { id: 'a' });
    const to = await app.max('product');
    await app.remove('product', record);
    expect((await app.feed('product').page({ to })).ids).toEqual(['a']);
    expect((await app.hardDeletes('product').page({ to })).ids).toEqual([]);
    expect((await app.hardDeletes('product').page({ from: to })).ids).toEqual(['a']);
  });

  it('Tidemark-To of a far window is a value that the mark announced, and holds for all further pages', async () => {
    await app.products(5);
    const first = await app.feed('product').page({ limit: 2 });
    const announced = await service.db
      .collection('tidemark.moments')
      .countDocuments({ appid: app.appid, fence: new Date(first.to) });
    expect(announced).toBe(1);
    await products().updateMany(app.tenant, { $set: { 'data.n': 1 } });
    await service.watcher.caughtUp();
    const rest = await app.feed('product').drain({ to: first.to, lastoffsetid: first.nextoffsetid });
    expect(rest.length).toBe(3);
  });
});
