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
  previewFilter(service.db, { ...app.tenant, kind: 'product' }, asRead(filter), { maxTimeMS: 30_000 });

/** MongoDB reads everything for a condition that nothing can fulfil. */
const isNever = (filter: mongo.Document) => JSON.stringify(filter).includes('"$all":[]');

it(`an index that is advised is used, takes every record, and changes no count (TIDEMARK_TEST_SEED=${SEED})`, async () => {
  let advised = 0;
  for (const { records, changes } of randomEdits(SEED, ROUNDS, FILTERS_OF_ONE)) {
    app = await service.application();
    const many = Array.from({ length: 5 }, () => records).flat();
    await app.products(many.length, (index) => ({ ...many[index] }));
    for (const { other } of changes) {
      const before = await preview(other);
      const key = indexAdvice(asRead(other));
      if (key === undefined || 'channels' in key || isNever(other)) continue;
      expect(before.plan!.advice).toEqual(before.plan!.readsEveryRecord ? key : null);
      if (before.plan!.advice === null) continue;
      advised += 1;
      const name = await products().createIndex(before.plan!.advice);
      const { plan, ...counts } = await preview(other);
      await products().dropIndex(name);
      const told = mongo.BSON.EJSON.stringify(other);
      expect({ told, plan }).toEqual({
        told,
        plan: { readsEveryRecord: false, indexes: [name], advice: null },
      });
      expect(counts).toEqual({ ...before, plan: undefined });
    }
  }
  expect(advised).toBeGreaterThan(10);
});
