import type { mongo } from 'mongoose';
import { IncompleteIdentities } from '../../src/replication/store/index.js';
import { markKey, RAISE } from '../../src/replication/protocol/index.js';
import { Restamps } from '../../src/replication/watcher/index.js';
import { type TestApplication, TestService } from '../support/index.js';
import { ContractCopy } from './copy.js';
import { inOneBatch } from './in-one-batch.js';

let service: TestService;
let app: TestApplication;
beforeAll(async () => {
  service = await TestService.start();
});
beforeEach(async () => {
  app = await service.application();
});
afterEach(() => jest.restoreAllMocks());
afterAll(() => service.stop());

const products = () => service.db.collection('products');
const put = (id: unknown, n: number, fields: object = {}) => app.product({ id, data: { n }, ...fields });
const change = (n: number, fields: object) =>
  products().updateOne({ organizationid: app.organizationid, 'data.n': n }, { $set: fields });
const remove = (n: number) => products().deleteOne({ organizationid: app.organizationid, 'data.n': n });

/** Raises the mark of the products, as any instance does, and answers its fence. */
async function raise(): Promise<Date> {
  const mark = await service.db
    .collection<mongo.Document>('tidemark.marks')
    .findOneAndUpdate({ _id: markKey({ ...app.tenant, kind: 'product' }) }, RAISE, {
      returnDocument: 'after',
      upsert: true,
      writeConcern: { w: 'majority' },
    });
  return mark!['fence'] as Date;
}

/** What a consumer is told behind a window that ended at the fence: the last state of each `id`. */
async function toldAfter(from: Date): Promise<Map<string, unknown>> {
  await service.watcher.caughtUp();
  await service.watcher.caughtUp();
  const to = await app.max('product');
  const updates = await app.feed('product').drain({ from, to });
  const deletes = await app.hardDeletes('product').drain({ from, to });
  const told = [
    ...updates.map((one) => ({ id: one.id, stamp: one.lastupdated!, n: one.data?.n })),
    ...deletes.map((one) => ({ id: one.id, stamp: one.lastUpdated!, n: 'gone' })),
  ];
  told.sort((one, other) => (one.stamp < other.stamp ? -1 : 1));
  return new Map(told.map(({ id, n }) => [id, n]));
}

describe('a text comes beside a number and goes again, and a mark is raised meanwhile, in one batch of the log', () => {
  /** The number, and what becomes of the text; `data.n` is ten times the number, and one more for each text. */
  const goings: Record<string, [id: number, goes: () => Promise<unknown>]> = {
    'the text is deleted': [1, () => remove(11)],
    'it gets another `id`': [2, () => change(21, { id: 'other' })],
    'it gets another number': [3, () => change(31, { id: 1003 })],
    'it moves to another application': [4, () => change(41, { appid: 'elsewhere' })],
    'another text comes after it, and goes': [
      5,
      () =>
        remove(51)
          .then(() => put('5', 52))
          .then(() => remove(52)),
    ],
  };
  const BOTH_GO = 6;

  it('each time the number is delivered above the text, and the end of both is told', async () => {
    let fence = new Date(0);
    await inOneBatch(app, async () => {
      for (const id of [...Object.values(goings).map(([n]) => n), BOTH_GO]) {
        await put(id, 10 * id);
        await put(String(id), 10 * id + 1);
      }
      fence = await raise();
      for (const [, goes] of Object.values(goings)) await goes();
      await remove(10 * BOTH_GO + 1);
      await remove(10 * BOTH_GO);
    });
    await service.watcher.caughtUp();
    const shown = await app.feed('product').drain({ to: fence });
    expect(shown.map(({ id, data }) => [id, data?.n])).toContainEqual(['1', 11]);
    const told = await toldAfter(fence);
    for (const [name, [id]] of Object.entries(goings))
      expect([name, told.get(String(id))]).toEqual([name, 10 * id]);
    expect(told.get(String(BOTH_GO))).toBe('gone');
    await remove(10);
    expect((await toldAfter(fence)).get('1')).toBe('gone');
  });
});

it('a text that comes while a number lives again ends it first: nothing replaces a living number but its death', async () => {
  await put(5, 0);
  await service.watcher.caughtUp();
  await remove(0);
  await service.watcher.caughtUp();
  const before = await raise();
  await service.watcher.caughtUp();
  let fence = new Date(0);
  const restamps = service.app.get(Restamps, { strict: false });
  const late = restamps.late.bind(restamps);
  await inOneBatch(app, async () => {
    const entry = { ...app.tenant, kind: 'product', id: '5' };
    const ledger = service.db.collection('tidemark.ledger');
    await ledger.updateOne({ ...entry, alive: false }, [{ $set: { lastupdated: '$$NOW' } }]);
    await put(5, 1);
    const spy = jest.spyOn(restamps, 'late').mockImplementation(async (...asked) => {
      if (asked[0] === 'product' && (await ledger.countDocuments({ ...entry, alive: true })) > 0) {
        spy.mockRestore();
        await put('5', 2, { lastupdated: new Date(before.getTime() + 1) });
        fence = await raise();
      }
      return late(...asked);
    });
  });
  expect((await toldAfter(before)).get('5')).toBe(2);
  expect(fence.getTime()).toBeGreaterThan(before.getTime());
  expect((await toldAfter(fence)).get('5')).toBe(2);
});

describe('a record takes over a text, and its type changes, in one batch of the log', () => {
  it.each<[string, () => Promise<unknown>]>([
    ['from the text', () => change(1, { id: '12' })],
    [
      'from the text and back',
      async () => {
        await change(1, { id: '12' });
        await change(1, { id: 12 });
        await change(1, { id: '12' });
      },
    ],
  ])('%s to its number: the ledger has the new owner', async (_name, takesOver) => {
    const copy = new ContractCopy(app, 'product');
    await put('12', 0);
    await put('x', 1);
    await copy.harvest();
    await inOneBatch(app, async () => {
      await remove(0);
      await takesOver();
      await change(1, { id: 12 });
    });
    await service.watcher.caughtUp();
    expect(await copy.harvest()).toEqual({ '12': 1 });
    await remove(1);
    await service.watcher.caughtUp();
    expect(await copy.harvest()).toEqual({});
  });

  it('a number that has become its text and is gone: another one takes its place', async () => {
    const copy = new ContractCopy(app, 'product');
    await put(12, 0);
    await copy.harvest();
    await inOneBatch(app, async () => {
      await change(0, { id: '12' });
      await remove(0);
      await put('12', 1);
      await change(1, { id: 12 });
    });
    await service.watcher.caughtUp();
    expect(await copy.harvest()).toEqual({ '12': 1 });
  });
});

describe('what a term knew that was given up changes nothing that was learned later', () => {
  it('of a record without an `id` that has moved to another application since', async () => {
    const other = await service.application({ organizationid: app.organizationid });
    const copy = new ContractCopy(other, 'product');
    const incomplete = service.app.get(IncompleteIdentities, { strict: false });
    const keep = incomplete.keep.bind(incomplete);
    const kept: Parameters<IncompleteIdentities['keep']>[] = [];
    jest.spyOn(incomplete, 'keep').mockImplementation((...asked) => {
      kept.push(asked);
      return keep(...asked);
    });
    const { insertedId } = await products().insertOne({ ...app.tenant, data: { n: 0 } });
    const late = async () => {
      for (const [kind, known] of kept)
        await keep(
          kind,
          known.filter(({ owner }) => owner.equals(insertedId)),
        );
    };
    await service.watcher.caughtUp();
    expect(kept.flatMap(([, known]) => known.filter(({ owner }) => owner.equals(insertedId)))).not.toEqual(
      [],
    );
    await change(0, { appid: other.appid });
    expect(Object.values(await copy.harvest())).toEqual([0]);
    await late();
    await change(0, { id: 'renamed' });
    expect(await copy.harvest()).toEqual({ renamed: 0 });
    await remove(0);
    expect(await copy.harvest()).toEqual({});
  });

  it('of a number that waited, and has another one since', async () => {
    const copy = new ContractCopy(app, 'product');
    const incomplete = service.app.get(IncompleteIdentities, { strict: false });
    await put('7', 0);
    const { _id } = await put(7, 1);
    await copy.harvest();
    const [[, partial] = []] = await incomplete.among('product', [_id]);
    expect(partial).toMatchObject({ id: '7', isNumber: true });
    await change(1, { id: 8 });
    expect(await copy.harvest()).toEqual({ '7': 0, '8': 1 });
    await incomplete.keep('product', [{ owner: _id, partial: partial! }]);
    await change(1, { appid: 'elsewhere' });
    expect(await copy.harvest()).toEqual({ '7': 0 });
    await change(1, { appid: app.appid });
    expect(await copy.harvest()).toEqual({ '7': 0, '8': 1 });
    await remove(1);
    expect(await copy.harvest()).toEqual({ '7': 0 });
  });
});
