import fc from 'fast-check';
import mongoose from 'mongoose';
import { idTextOf, READ_FOR_JSON } from '../../../../src/record/index.js';
import { numberedIn, renamed } from '../../../../src/replication/transcode/index.js';

const { BSON } = mongoose.mongo;
const { Code, Decimal128, Double, Int32, Long, ObjectId } = BSON;

const ids = fc.oneof(
  fc.constantFrom<unknown>('x', '5', '', null, undefined, true, [5], new ObjectId()),
  fc.constantFrom<unknown>(new Double(5.5), new Double(2 ** 63), Decimal128.fromString('NaN')),
  fc.integer().map((n) => new Int32(n)),
  fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n).map((n) => Long.fromBigInt(n)),
  fc.integer().map((n) => new Double(n)),
  fc.integer().map((n) => Decimal128.fromString(String(n))),
);
/** Fields of every type in front of `id`, so that it lies in another place each time. */
const before = fc.constantFrom<object>(
  ...[{}, { organizationid: 'acme' }, { a: new BSON.Binary(Buffer.from('x')), b: /x/i, c: new Code('x') }],
  ...[
    { a: new Code('x', { y: 1 }), b: [1, { id: 5 }] },
    { a: new BSON.MinKey(), b: new BSON.MaxKey() },
  ],
  ...[{ a: new BSON.BSONSymbol('s'), b: new BSON.Timestamp(5n), c: new Date(), d: null, e: 1.5 }],
);
const records = fc.array(
  fc.tuple(ids, before, fc.string(), fc.boolean()).map(([id, fields, text, isShown]) => ({
    record: { _id: new ObjectId(), ...fields, ...(id !== undefined && { id }), data: { text, id: 5 } },
    isShown,
  })),
  { maxLength: 20 },
);

const batch = (list: object[]) => BSON.serialize({ ...list }, { ignoreUndefined: true });
const read = (bytes: Uint8Array): unknown[] =>
  Object.values(BSON.deserialize(bytes, { promoteValues: false, bsonRegExp: true }));
const isNumber = (id: unknown) => [Double, Int32, Long, Decimal128].some((type) => id instanceof type);

it('a number in place of an `id` becomes its text where the record is shown, and the record goes where not', () => {
  fc.assert(
    fc.property(records, (list) => {
      const bytes = batch(list.map(({ record }) => record));
      const numbered = list.filter(({ record }) => isNumber(record.id));
      const textOf = (id: unknown) => idTextOf(BSON.deserialize(BSON.serialize({ id }), READ_FOR_JSON)['id']);
      expect(numberedIn(bytes, 0)).toEqual(
        numbered.map(({ record: { _id, id } }) => ({ _id, text: textOf(id) })),
      );
      const shown = new Set(
        list.filter(({ isShown }) => isShown).map(({ record }) => record._id.toHexString()),
      );
      const expected = list.flatMap(({ record }) => {
        if (!isNumber(record.id)) return [record];
        const id = shown.has(record._id.toHexString()) ? textOf(record.id) : undefined;
        return id === undefined ? [] : [{ ...record, id }];
      });
      expect(read(renamed(bytes, 0, ({ _id }) => shown.has(_id.toHexString())))).toEqual(
        read(batch(expected)),
      );
    }),
  );
});
