import { mongo } from 'mongoose';
import { markKey, RAISE } from '../../src/replication/protocol/index.js';
import { Claimants, type AuditProgress } from '../../src/replication/watcher/index.js';
import { eventually, QUICK_AUDIT, type TestApplication, TestService } from '../support/index.js';
import { ContractCopy } from './copy.js';

let service: TestService;
let app: TestApplication;
let copy: ContractCopy;
beforeEach(async () => {
  service = await TestService.start();
  app = await service.application();
  copy = new ContractCopy(app, 'product');
});
afterEach(() => service.stop());

const products = () => service.db.collection('products');
const put = (id: unknown, n: number) => app.product({ id, data: { n } });
const remove = (n: number) => products().deleteOne({ ...app.tenant, 'data.n': n });
const ignored = async () => {
  await service.watcher.caughtUp();
  return service.metric('tidemark_ignored_records{kind="product"}');
};

/** A record that gives a number up leaves a tombstone; another takes its place when the watcher sees that. */
async function settled(): Promise<void> {
  await app.service.watcher.caughtUp();
  await app.service.watcher.caughtUp();
}

/** What a consumer holds that reads all of it once more, and one that has followed all the while. */
async function held(): Promise<unknown> {
  const [fresh, followed] = [await new ContractCopy(app, 'product').harvest(), await copy.harvest()];
  expect(followed).toEqual(fresh);
  return fresh;
}

describe('several records have one number', () => {
  it('in one batch: one is delivered, and the others are ignored and told of', async () => {
    await app.products(3, (n) => ({ id: 7, data: { n } }));
    expect([await held(), await ignored()]).toEqual([{ '7': 0 }, 2]);
  });

  it('it is the one that was delivered before, whatever happens to the others', async () => {
    await put(7, 0);
    await held();
    await put(7, 1);
    await products().updateOne({ ...app.tenant, 'data.n': 1 }, { $set: { 'data.more': 1 } });
    expect([await held(), await ignored()]).toEqual([{ '7': 0 }, 1]);
  });

  it('all of them deleted at once: none lives again', async () => {
    await put(7, 0);
    await put(7, 1);
    await put(7, 2);
    await held();
    await products().deleteMany({ ...app.tenant, id: 7 });
    await settled();
    expect([await held(), await ignored()]).toEqual([{}, 0]);
    expect((await app.hardDeletes('product').page()).ids).toEqual(['7']);
  });

  it.each<[string, () => Promise<unknown>, string[]]>([
    ['is deleted', () => remove(0), ['7']],
    ['gets another number', () => products().updateOne({ 'data.n': 0 }, { $set: { id: 8 } }), ['7', '8']],
    ['gets a text', () => products().updateOne({ 'data.n': 0 }, { $set: { id: 'x' } }), ['7', 'x']],
    ['is moved', () => products().updateOne({ 'data.n': 0 }, { $set: { appid: 'elsewhere' } }), ['7']],
  ])('when that one %s, another takes its place', async (_name, work, ids) => {
    await put(7, 0);
    await put(7, 1);
    await held();
    await work();
    await settled();
    expect(Object.keys((await held()) as object)).toEqual(ids);
    expect([await held(), await ignored()]).toEqual([expect.objectContaining({ '7': 1 }), 0]);
    await remove(1);
    expect(Object.keys((await held()) as object)).toEqual(ids.filter((id) => id !== '7'));
  });

  it('all at once: written, the first deleted, another written: one of those that are left', async () => {
    await service.client.withSession((session) =>
      session.withTransaction(async () => {
        const write = (n: number) =>
          products().insertOne({ ...app.tenant, id: 7, lastupdated: new Date(), data: { n } }, { session });
        await write(0);
        await write(1);
        await products().deleteOne({ 'data.n': 0 }, { session });
        await write(2);
      }),
    );
    expect([{ '7': 1 }, { '7': 2 }]).toContainEqual(await held());
    expect(await ignored()).toBe(1);
  });

  it('one that takes the place of another while the mark moves on comes in the next window', async () => {
    await put(7, 0);
    await put(7, 1);
    await held();
    const claimants = service.app.get(Claimants, { strict: false });
    const next = claimants.next.bind(claimants);
    jest.spyOn(claimants, 'next').mockImplementationOnce(async (...asked) => {
      const stamped = [{ $set: { lastupdated: '$$NOW' } }];
      await products().updateOne({ ...app.tenant, 'data.n': 1 }, stamped);
      await service.db
        .collection('tidemark.marks')
        .updateOne({ _id: markKey({ ...app.tenant, kind: 'product' }) }, RAISE);
      return next(...asked);
    });
    await remove(0);
    await service.watcher.caughtUp();
    await copy.harvest();
    await settled();
    expect(await held()).toEqual({ '7': 1 });
  });

  it('one that is ignored and goes away is counted no longer', async () => {
    await put(7, 0);
    await put(7, 1);
    expect(await ignored()).toBe(1);
    await remove(1);
    expect([await held(), await ignored()]).toEqual([{ '7': 0 }, 0]);
  });
});

describe('where a record has that text as its `id`, the number is ignored and told of', () => {
  it.each<[string, unknown, unknown]>([
    ['the text was there first', '8', 8],
    ['the number was there first', 8, '8'],
  ])('%s', async (_name, first, second) => {
    const nOf = { '8': first === '8' ? 0 : 1 };
    await put(first, 0);
    await held();
    await put(second, 1);
    expect([await held(), await ignored()]).toEqual([nOf, 1]);
    await products().deleteOne({ ...app.tenant, id: '8' });
    await settled();
    expect([await held(), await ignored()]).toEqual([{ '8': 1 - nOf['8'] }, 0]);
  });

  it('both in one batch', async () => {
    await app.products(2, (n) => ({ id: [8, '8'][n], data: { n } }));
    expect([await held(), await ignored()]).toEqual([{ '8': 1 }, 1]);
  });

  it('a number that becomes the text of another one wins over it', async () => {
    await put(8, 0);
    await put(9, 1);
    await held();
    await products().updateOne({ ...app.tenant, id: 9 }, { $set: { id: '8' } });
    expect([await held(), await ignored()]).toEqual([{ '8': 1 }, 1]);
  });
});

describe('nothing of it is forgotten', () => {
  it('by a new leader', async () => {
    await put(7, 0);
    await put(7, 1);
    await held();
    await service.leave();
    await remove(0);
    const next = await service.another();
    app = app.seenBy(next);
    await settled();
    expect(await new ContractCopy(app, 'product').harvest()).toEqual({ '7': 1 });
    await next.leave();
  });

  it('by a pass that repairs, and what it finds is as it must be', async () => {
    const leases = service.db.collection<{ _id: string; since: mongo.Timestamp }>('tidemark.leases');
    const since = async () => (await leases.findOne({ _id: 'watcher' }))!.since;
    await put(7, 0);
    await put(7, 1);
    await put(8, 2);
    await put('8', 3);
    expect(await held()).toEqual({ '7': 0, '8': 3 });
    const before = await since();
    const kept = await products()
      .find({ 'data.n': { $ne: 0 } })
      .toArray();
    await products().drop();
    await products().insertMany(kept);
    await eventually(async () => (await since()).compare(before) > 0);
    expect([await held(), await ignored()]).toEqual([{ '7': 1, '8': 3 }, 1]);
  });

  it('and the audit finds no fault in it, but one that is forgotten all the same', async () => {
    await service.leave();
    service = await service.another(QUICK_AUDIT);
    app = app.seenBy(service);
    copy = new ContractCopy(app, 'product');
    const round = async () =>
      (await service.db.collection<AuditProgress>('tidemark.audits').findOne({ _id: 'ledger' }))?.round ?? 1;
    const oneMoreRound = async () => {
      const begun = await round();
      await eventually(async () => {
        await service.watcher.caughtUp();
        return (await round()) >= begun + 2;
      });
    };
    const found = async () =>
      (await service.metric('tidemark_audit_found_total{what="unknown record"}')) || 0;
    await put(7, 0);
    await put(7, 1);
    await put('8', 2);
    await put(8, 3);
    await held();
    await oneMoreRound();
    expect(await found()).toBe(0);
    await service.db.collection('tidemark.ledger').deleteOne({ ...app.tenant, id: '7' });
    await oneMoreRound();
    expect([Object.keys((await held()) as object), await found()]).toEqual([['7', '8'], 1]);
  });
});
