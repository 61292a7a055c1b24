import { type BuiltInKind, BUILT_IN_KINDS } from '../../src/kinds/index.js';
import { type Stored, type TestApplication, TestService } from '../support/index.js';

let service: TestService;

beforeAll(async () => {
  service = await TestService.start();
});
afterAll(() => service.stop());

const idsOf = (items: { id: string }[]) => items.map(({ id }) => id).sort();

/** Lets others write while no service runs, then starts one again; answers how that one sees the application. */
async function whileAway(app: TestApplication, act: () => Promise<unknown>): Promise<TestApplication> {
  await service.watcher.caughtUp();
  await service.leave();
  try {
    await act();
    service = await service.another();
  } catch (error) {
    await beginAfresh();
    throw error;
  }
  await service.watcher.caughtUp();
  return app.seenBy(service);
}

/** The cases that follow do not suffer from what one of them has left behind. */
async function beginAfresh(): Promise<void> {
  await service.stop();
  service = await TestService.start();
}

const leases = () => service.db.collection<{ _id: string; token?: { _data: string } }>('tidemark.leases');

describe('what happened while no service ran is found at the next start', () => {
  const records = (kind: BuiltInKind) => service.db.collection(`${kind}s`);

  describe.each<[string, () => Promise<unknown>]>([
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
  ])('%s', (_name, lose) => {
    const was = {} as Record<BuiltInKind, { kept: Stored; gone: Stored; before: Date }>;
    let seen: TestApplication;

    /** Both kinds see one restart. */
    beforeAll(async () => {
      const app = await service.application();
      for (const kind of BUILT_IN_KINDS) {
        const [kept, gone] = [await app[kind](), await app[kind]()];
        await service.watcher.caughtUp();
        was[kind] = { kept, gone, before: await app.max(kind) };
      }
      seen = await whileAway(app, async () => {
        for (const kind of BUILT_IN_KINDS) {
          await records(kind).deleteOne({ _id: was[kind].gone._id });
          await records(kind).insertOne({ ...app.tenant, lastupdated: 'today' });
        }
        await lose();
      });
    });

    it.each(BUILT_IN_KINDS)('%s', async (kind) => {
      const { kept, gone, before } = was[kind];
      const deletes = await seen.hardDeletes(kind).drain();
      expect(idsOf(deletes)).toEqual([gone['id']]);
      expect(new Date(deletes[0]?.lastUpdated ?? 0).getTime()).toBeGreaterThan(before.getTime());
      const [first, repaired] = await seen.feed(kind).drain();
      expect(first?.id).toBe(kept['id']);
      expect(new Date(repaired?.lastupdated ?? 0).getTime()).toBeGreaterThan(before.getTime());
    });
  });

  it.each(BUILT_IN_KINDS)('a collection that was dropped: %s', async (kind) => {
    const app = await service.application();
    const gone = await app[kind]();
    const seen = await whileAway(app, () => records(kind).drop());
    expect(idsOf(await seen.hardDeletes(kind).drain())).toEqual([gone['id']]);
  });
});

it('a record that came and went while no service ran was never shown and may be told or not, but is not there', async () => {
  const app = await service.application();
  const seen = await whileAway(app, async () => {
    const brief = await app.product();
    await service.db.collection('products').deleteOne({ _id: brief._id });
  });
  expect(await seen.feed('product').drain()).toEqual([]);
});
