import fc from 'fast-check';
import { mongo } from 'mongoose';
import { idTextAt, idTextOf, READ_FOR_JSON } from '../../src/record/index.js';
import { freshDatabase } from '../support/database.js';

const { Decimal128, Double, Int32, Long } = mongo.BSON;
const SAMPLES = 2000;

const edges = [
  0n,
  1n,
  -1n,
  10n ** 15n,
  2n ** 53n,
  2n ** 63n - 1n,
  2n ** 63n,
  -(2n ** 63n),
  -(2n ** 63n) - 1n,
];
const whole = fc.oneof(fc.constantFrom(...edges), fc.bigInt(-(2n ** 64n), 2n ** 64n));
const stored = fc.oneof(
  fc.string(),
  fc.integer().map((n) => new Int32(n)),
  fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n).map((n) => Long.fromBigInt(n)),
  fc.double().map((n) => new Double(n)),
  whole.map((n) => new Double(Number(n))),
  fc
    .tuple(whole, fc.integer({ min: -40, max: 40 }))
    .map(([n, exponent]) => Decimal128.fromStringWithRounding(`${n}E${exponent}`)),
  fc
    .constantFrom('NaN', 'Infinity', '-Infinity', '-0.00', '5.0', '0E+6000')
    .map((text) => Decimal128.fromString(text)),
  fc.constantFrom(null, true, new Date(5), [5], ['x'], { a: 5 }, new mongo.ObjectId()),
);

it('the server and JavaScript read the same text from whatever is stored as `id`', async () => {
  const { db, client } = await freshDatabase();
  const values = fc.sample(stored, SAMPLES);
  await db.collection('values').insertMany(values.map((id, _id) => ({ _id, id })) as never[]);
  const seen = await db
    .collection('values')
    .aggregate<{ id: unknown; text: unknown }>(
      [{ $project: { id: 1, text: idTextAt('$id') } }],
      READ_FOR_JSON,
    )
    .toArray();
  expect(seen).toHaveLength(SAMPLES);
  for (const { id, text } of seen) expect([id, text]).toEqual([id, idTextOf(id) ?? false]);
  await db.dropDatabase();
  await client.close();
});
