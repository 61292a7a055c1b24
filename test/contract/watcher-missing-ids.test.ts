import { collectionOf, type Kind, BUILT_IN_KINDS } from '../../src/kinds/index.js';
import { eventually, type TestApplication, TestService } from '../support/index.js';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const MANY = 600;

let service: TestService;
let app: TestApplication;

beforeEach(async () => {
  service = await TestService.start();
  app = await service.application();
});
afterEach(() => service.stop());

const bulk = (kind: Kind) =>
  service.db
    .collection(collectionOf(kind))
    .insertMany(
      Array.from({ length: MANY }, (_, n) => ({ ...app.tenant, data: { n, email: `${n}@example.com` } })),
    );
const lacking = (kind: Kind) =>
  service.db.collection(collectionOf(kind)).countDocuments({ ...app.tenant, id: { $exists: false } });

/** Waits until nothing lacks an `id`, and all of it is worked through. */
async function allNamed(kind: Kind, by = service): Promise<void> {
  await eventually(async () => (await lacking(kind)) === 0);
  await by.watcher.caughtUp();
}

/** Each `n` once, however often it is delivered. */
async function delivered(kind: Kind): Promise<number[]> {
  const items = await app.feed(kind).drain();
  for (const { id } of items) expect(id).toMatch(UUID);
  return items.map(({ data }) => data?.['n'] as number).sort((one, other) => one - other);
}

const all = Array.from({ length: MANY }, (_, n) => n);

describe.each(BUILT_IN_KINDS)('A bulk of records without id and stamp: %s', (kind) => {
  it('each gets a UUID, and its stamp with the same write; each is delivered', async () => {
    await bulk(kind);
    await allNamed(kind);
    expect(await delivered(kind)).toEqual(all);
    expect(await service.metric('tidemark_repaired_total{what="id"}')).toBe(MANY);
    expect(await service.metric('tidemark_restamps_total{reason="bad"}')).toBeNaN();
    expect(await service.db.collection('tidemark.incompleteidentities').countDocuments()).toBe(0);
  });

  it('whoever leads next goes on where the one before has left off', async () => {
    await bulk(kind);
    await eventually(async () => (await lacking(kind)) < MANY);
    await service.leave();
    const next = await service.another();
    try {
      await allNamed(kind, next);
      const ids = await service.db.collection(collectionOf(kind)).distinct('id');
      expect(ids).toHaveLength(MANY);
    } finally {
      await next.app.close();
    }
  });

  it('those that are deleted or get an id meanwhile are left as they are', async () => {
    const { insertedIds } = await bulk(kind);
    const collection = service.db.collection(collectionOf(kind));
    await collection.deleteMany({ _id: { $in: [insertedIds[MANY - 1]!, insertedIds[MANY - 2]!] } });
    const own = { filter: { _id: insertedIds[MANY - 3]!, id: { $exists: false } }, set: { id: 'own' } };
    const { modifiedCount } = await collection.updateOne(own.filter, { $set: own.set });
    await allNamed(kind);
    const items = await app.feed(kind).drain();
    expect(items).toHaveLength(MANY - 2);
    expect(items.filter(({ id }) => id === 'own')).toHaveLength(modifiedCount);
    const living = await service.db.collection('tidemark.ledger').countDocuments({ kind, alive: true });
    expect(living).toBe(MANY - 2);
  });
});
