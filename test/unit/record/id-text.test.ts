import mongoose from 'mongoose';
import { idTextOf } from '../../../src/record/index.js';

const { Decimal128, Double, Int32, Long, ObjectId } = mongoose.mongo.BSON;
const decimal = (text: string) => Decimal128.fromString(text);

describe('the text under which consumers know a stored `id`', () => {
  it.each<[unknown, string]>([
    ['', ''],
    ['007', '007'],
    [990017, '990017'],
    [-0, '0'],
    [2 ** 62, '4611686018427387904'],
    [-(2 ** 63), '-9223372036854775808'],
    [9223372036854775807n, '9223372036854775807'],
    [new Int32(-5), '-5'],
    [new Double(5), '5'],
    [Long.MIN_VALUE, '-9223372036854775808'],
    [decimal('5.000'), '5'],
    [decimal('-0E-6176'), '0'],
    [decimal('5E+3'), '5000'],
    [decimal('1.20E+1'), '12'],
    [decimal('9223372036854775807'), '9223372036854775807'],
  ])('%p: %p', (stored, text) => {
    expect(idTextOf(stored)).toBe(text);
  });

  it.each<[unknown]>([
    ...[undefined, null, true, NaN, Infinity, 5.5, 2 ** 63, 9223372036854775808n].map((one): [unknown] => [
      one,
    ]),
    ...['5.5', '0.1', 'NaN', '-Infinity', '9223372036854775808', '1E+6144', '1E-6176'].map(
      (text): [unknown] => [decimal(text)],
    ),
    ...[[5], { a: 5 }, new Date(5), new ObjectId()].map((one): [unknown] => [one]),
  ])('%p: none', (stored) => {
    expect(idTextOf(stored)).toBeUndefined();
  });
});
