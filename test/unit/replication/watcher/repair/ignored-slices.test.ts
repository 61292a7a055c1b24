import { mongo } from 'mongoose';
import { IgnoredRecords } from '../../../../../src/replication/watcher/repair/ignored-records.js';

/** The sizes of the slices that are read where the server needs longer than its time limit for more records than this. */
async function slices(most: number, steps: number): Promise<number[]> {
  const sizes: number[] = [];
  const read = (stages: { $limit?: number }[]) => {
    const count = stages.find(({ $limit }) => $limit !== undefined)!.$limit!;
    sizes.push(count);
    return count > most
      ? Promise.reject(new mongo.MongoServerError({ message: 'operation exceeded time limit', code: 50 }))
      : Promise.resolve([{ last: new mongo.ObjectId(), count, unassigned: [] }]);
  };
  const connection = {
    collection: () => ({
      aggregate: (stages: object[]) => ({ toArray: () => read(stages) }),
      countDocuments: () => Promise.resolve(0),
    }),
    getClient: () => ({ startSession: () => ({ endSession: () => Promise.resolve() }) }),
  };
  const incomplete = { countRivals: () => Promise.resolve(0) };
  const workedThrough = { now: () => Promise.resolve({ at: new mongo.Timestamp({ t: 7, i: 1 }) }) };
  const metrics = { ignoredRecords: { set: () => undefined } };
  const parts = [connection, incomplete, workedThrough, metrics] as unknown as ConstructorParameters<
    typeof IgnoredRecords
  >;
  const ignored = new IgnoredRecords(...parts);
  for (let step = 0; step < steps; step += 1) await ignored.step().catch(() => undefined);
  return sizes;
}

it('a slice that takes too long is tried again with half as many records', async () => {
  expect(await slices(3000, 5)).toEqual([10_000, 5000, 2500, 5000, 2500]);
});

it('later slices are as large as before', async () => {
  expect(await slices(10_000, 2)).toEqual([10_000, 10_000]);
});
