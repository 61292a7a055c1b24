import type { mongo } from 'mongoose';
import { eventually, type TestApplication, TestService } from '../support/index.js';
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

/** What a consumer holds that reads all of it once more, and one that has followed all the while. */
async function held(): Promise<unknown> {
  const [fresh, followed] = [await new ContractCopy(app, 'product').harvest(), await copy.harvest()];
  expect(followed).toEqual(fresh);
  return fresh;
}

describe('a pass finds what nobody told of', () => {
  /** Everything is dropped, and something else is there when the pass comes. */
  async function become(change: (records: mongo.Document[]) => mongo.Document[]): Promise<void> {
    const leases = service.db.collection<{ _id: string; since: mongo.Timestamp }>('tidemark.leases');
    const since = async () => (await leases.findOne({ _id: 'watcher' }))!.since;
    const [before, records] = [await since(), await products().find().toArray()];
    await products().drop();
    await products().insertMany(change(records));
    await eventually(async () => (await since()).compare(before) > 0);
  }

  it('a text that takes the place of a number', async () => {
    await put(7, 0);
    expect(await held()).toEqual({ '7': 0 });
    await become(([record]) => [record!, { ...app.tenant, id: '7', data: { n: 1 } }]);
    expect([await held(), await ignored()]).toEqual([{ '7': 1 }, 1]);
    await remove(1);
    expect([await held(), await ignored()]).toEqual([{ '7': 0 }, 0]);
  });

  it('a number that has become its own text: it stays what it is, and wins over numbers', async () => {
    await put(7, 0);
    await held();
    await become(([record]) => [{ ...record!, id: '7' }]);
    expect(await held()).toEqual({ '7': 0 });
    await put(7, 1);
    expect([await held(), await ignored()]).toEqual([{ '7': 0 }, 1]);
    expect(await service.db.collection('tidemark.ledger').countDocuments({ isNumber: true })).toBe(0);
  });

  it('a number that has become another one, and one that was ignored and is gone', async () => {
    await put(7, 0);
    await put(7, 1);
    await held();
    await become(([record]) => [{ ...record!, id: 9 }]);
    expect([await held(), await ignored()]).toEqual([{ '9': 0 }, 0]);
    await put(7, 2);
    expect(await held()).toEqual({ '7': 2, '9': 0 });
  });

  it('one that was ignored and has become what no other is', async () => {
    await put(7, 0);
    await put(7, 1);
    await held();
    await become(([first, second]) => [first!, { ...second!, id: 8 }]);
    expect([await held(), await ignored()]).toEqual([{ '7': 0, '8': 1 }, 0]);
    await remove(0);
    expect(await held()).toEqual({ '8': 1 });
  });
});

describe('what was set aside becomes what it would have been', () => {
  const validator = (collection: string, query: object) =>
    service.db.command({ collMod: collection, validator: query });
  const setAside = () => service.db.collection('tidemark.quarantine').countDocuments();

  /** While the watcher cannot write down what it has to. */
  async function hindered(collection: string, query: object, work: () => Promise<unknown>): Promise<void> {
    await validator(collection, query);
    await work();
    await eventually(async () => (await setAside()) > 0);
    await validator(collection, {});
    await eventually(async () => (await setAside()) === 0);
  }

  it('a number', async () => {
    await hindered('tidemark.ledger', { id: { $ne: '7' } }, () => put(7, 0));
    expect([await held(), await ignored()]).toEqual([{ '7': 0 }, 0]);
  });

  it('a text that takes the place of a number', async () => {
    await put(7, 0);
    await held();
    await hindered('tidemark.ledger', { id: { $ne: '7' } }, () => put('7', 1));
    expect([await held(), await ignored()]).toEqual([{ '7': 1 }, 1]);
    await remove(1);
    expect([await held(), await ignored()]).toEqual([{ '7': 0 }, 0]);
  });

  it('a number that is ignored', async () => {
    await put(7, 0);
    await held();
    await service.db.createCollection('tidemark.incompleteidentities').catch(() => undefined);
    await hindered('tidemark.incompleteidentities', { isNumber: { $ne: true } }, () => put(7, 1));
    expect([await held(), await ignored()]).toEqual([{ '7': 0 }, 1]);
    await remove(0);
    expect([await held(), await ignored()]).toEqual([{ '7': 1 }, 0]);
  });
});
