import { mongo } from 'mongoose';
import { previewFilter } from '../../src/administration/index.js';
import { indexAdvice } from '../../src/application/index.js';
import { type TestApplication, TestService } from '../support/index.js';
import { randomEdits } from './random-edits.js';

const SEED = Number(process.env['TIDEMARK_TEST_SEED'] ?? 1);
const ROUNDS = 6;
const FILTERS_OF_ONE = 25;

let service: TestService;
let app: TestApplication;

beforeAll(async () => {
  service = await TestService.start();
});
afterAll(() => service.stop());

const products = () => service.db.collection('products');
/** As the service reads it: objects of Jest's own are none to code outside of it. */
const asRead = (filter: mongo.Document) => mongo.BSON.deserialize(mongo.BSON.serialize(filter));
const preview = (filter: mongo.Document) =>
  previewFilter(
    service.db,
    { ...app.tenant, kind: 'product' },
    { filter: asRead(filter) },
    { maxTimeMS: 30_000 },
  );

/** From where to where an index is read on a field; the server need not take it where it would be read through anyway. */
async function boundsAlong(hint: string, filter: mongo.Document, field: string): Promise<unknown> {
  const explained = await products()
    .find({ $and: [app.tenant, filter] }, { hint })
    .explain('queryPlanner');
  let bounds: unknown;
  JSON.stringify(explained, (name, value: unknown) => {
    if (name === 'indexBounds') bounds = (value as Record<string, unknown>)[field];
    return value;
  });
  return bounds;
}

/** MongoDB reads everything for a condition that nothing can fulfil. */
const isNever = (filter: mongo.Document) => JSON.stringify(filter).includes('"$all":[]');

it(`an index that is advised narrows what is read, takes every record, and changes no count (TIDEMARK_TEST_SEED=${SEED})`, async () => {
  let [advised, used] = [0, 0];
  for (const { records, changes } of randomEdits(SEED, ROUNDS, FILTERS_OF_ONE)) {
    app = await service.application();
    const many = Array.from({ length: 5 }, () => records).flat();
    await app.products(many.length, (index) => ({ ...many[index] }));
    for (const { other } of changes) {
      const before = await preview(other);
      const key = indexAdvice(asRead(other));
      if (key === undefined || 'channels' in key || isNever(other)) continue;
      const field = Object.keys(key).at(-1)!;
      const some = await products().findOne({ ...app.tenant, [field]: { $exists: true } });
      const isUseful = some !== null && before.plan!.readsEveryRecord;
      expect(before.plan!.advice).toEqual(isUseful ? key : null);
      if (before.plan!.advice === null) continue;
      advised += 1;
      const name = await products().createIndex(before.plan!.advice);
      const { plan, ...counts } = await preview(other);
      const bounds = await boundsAlong(name, other, field);
      await products().dropIndex(name);
      const told = mongo.BSON.EJSON.stringify(other);
      expect({ told, bounds }).not.toEqual({ told, bounds: ['[MinKey, MaxKey]'] });
      expect([true, null]).toEqual([plan!.indexes.length > 0, plan!.advice]);
      used += plan!.readsEveryRecord ? 0 : 1;
      expect(counts).toEqual({ ...before, plan: undefined });
    }
  }
  expect(advised).toBeGreaterThan(10);
  expect(used).toBeGreaterThan(advised * 0.9);
});
