import { type Kind, KINDS } from '../../src/record/index.js';
import { type TestApplication, TestService } from '../support/index.js';

let service: TestService;
let app: TestApplication;

beforeEach(async () => {
  service = await TestService.start();
  app = await service.application();
});
afterEach(() => service.stop());

const idsOf = (items: { id: string }[]) => items.map(({ id }) => id).sort();

/** Lets others write while no service runs, then starts one again. */
async function whileAway(act: () => Promise<unknown>): Promise<TestApplication> {
  await service.watcher.caughtUp();
  await service.leave();
  await act();
  service = await service.another();
  await service.watcher.caughtUp();
  return app.seenBy(service);
}

const leases = () => service.db.collection<{ _id: string; token?: { _data: string } }>('tidemark.leases');

describe.each(KINDS)('what happened to %ss while no service ran is found at the next start', (kind: Kind) => {
  const records = () => service.db.collection(`${kind}s`);

  it.each<[string, () => Promise<unknown>]>([
    ['from the token', () => Promise.resolve()],
    ['without a token', () => leases().updateOne({ _id: 'watcher' }, { $unset: { token: '' } })],
    [
      "though the stream's history is lost",
      () =>
        leases().updateOne(
          { _id: 'watcher' },
          { $set: { token: { _data: '8200000001000000012B0229296E04' } } },
        ),
    ],
    [
      'though the token is not one',
      () => leases().updateOne({ _id: 'watcher' }, { $set: { token: { _data: 'nonsense' } } }),
    ],
    [
      'though the token lies in the future, as after a restore',
      () =>
        leases().updateOne(
          { _id: 'watcher' },
          { $set: { token: { _data: `82${'7F'.repeat(8)}2B0229296E04` } } },
        ),
    ],
    ['though the lease is gone', () => leases().deleteMany({})],
  ])('%s', async (_name, lose) => {
    const [kept, gone] = [await app[kind](), await app[kind]()];
    await service.watcher.caughtUp();
    const before = await app.max(kind);
    const seen = await whileAway(async () => {
      await records().deleteOne({ _id: gone._id });
      await records().insertOne({ ...app.tenant, lastupdated: 'today' });
      await lose();
    });
    const deletes = await seen.hardDeletes(kind).drain();
    expect(idsOf(deletes)).toEqual([gone['id']]);
    expect(new Date(deletes[0]?.lastUpdated ?? 0).getTime()).toBeGreaterThan(before.getTime());
    const [first, repaired] = await seen.feed(kind).drain();
    expect(first?.id).toBe(kept['id']);
    expect(new Date(repaired?.lastupdated ?? 0).getTime()).toBeGreaterThan(before.getTime());
  });

  it('a collection that was dropped', async () => {
    const gone = await app[kind]();
    const seen = await whileAway(() => records().drop());
    expect(idsOf(await seen.hardDeletes(kind).drain())).toEqual([gone['id']]);
  });
});

it('a record that came and went while no service ran was never shown and may be told or not, but is not there', async () => {
  const seen = await whileAway(async () => {
    const brief = await app.product();
    await service.db.collection('products').deleteOne({ _id: brief._id });
  });
  expect(await seen.feed('product').drain()).toEqual([]);
});
