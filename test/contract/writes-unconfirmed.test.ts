import type { mongo } from 'mongoose';
import { databaseProblem, isDatabaseAway, refusedAsDuplicate } from '../../src/platform/database/index.js';
import { freshDatabase } from '../support/database.js';

let database: Awaited<ReturnType<typeof freshDatabase>>;
let records: mongo.Collection<{ _id: number; n?: number }>;
beforeAll(async () => {
  database = await freshDatabase();
  records = database.db.collection('records');
});
afterAll(async () => {
  await database.db.dropDatabase();
  await database.client.close();
});

/** As where the majority of a replica set is away; this one has a single member. */
const BY_TWO = { writeConcern: { w: 2, wtimeoutMS: 100 } };
const errorOf = (write: Promise<unknown>) =>
  write.then(
    () => undefined,
    (error: unknown) => error,
  );

describe('a write that is not confirmed: 503, since nobody knows whether a fail-over takes it back', () => {
  it.each<[string, () => Promise<unknown>]>([
    ['insert', () => records.insertOne({ _id: 1 }, BY_TWO)],
    ['update', () => records.updateOne({ _id: 1 }, { $set: { n: 1 } }, BY_TWO)],
    ['find and update', () => records.findOneAndUpdate({ _id: 1 }, { $set: { n: 2 } }, BY_TWO)],
    ['delete', () => records.deleteOne({ _id: 1 }, BY_TWO)],
    [
      'bulk',
      () => records.bulkWrite([{ insertOne: { document: { _id: 2 } } }], { ordered: false, ...BY_TWO }),
    ],
  ])('%s', async (_name, write) => {
    const error = await errorOf(write());
    expect(isDatabaseAway(error)).toBe(true);
    expect(databaseProblem(error)).toMatchObject({ status: 503, slug: 'database-away' });
  });

  it('a bulk in which others were duplicates is no success either', async () => {
    await records.insertOne({ _id: 3 });
    const documents = [{ _id: 3 }, { _id: 4 }];
    const bulk = documents.map((document) => ({ insertOne: { document } }));
    const error = await errorOf(records.bulkWrite(bulk, { ordered: false, ...BY_TWO }));
    expect(() => refusedAsDuplicate(error)).toThrow();
    expect(isDatabaseAway(error)).toBe(true);
  });
});
