import mongoose from 'mongoose';
import { filterJson, filterOf, parseFilter } from '../../../src/administration/filter-text.js';

const { mongo } = mongoose;

describe('a filter as text', () => {
  it.each<[string, unknown]>([
    ['{"a": {"$date": "2026-01-01T00:00:00Z"}}', { a: new Date('2026-01-01T00:00:00Z') }],
    ['{"a": {"$date": {"$numberLong": "55"}}}', { a: new Date(55) }],
    ['{"a": {"$oid": "6b0135868b2d4656a43aaa06"}}', { a: new mongo.ObjectId('6b0135868b2d4656a43aaa06') }],
    ['{"a": {"$numberLong": "9007199254740993"}}', { a: mongo.Long.fromString('9007199254740993') }],
    ['{"a": {"$numberDecimal": "1.50"}}', { a: mongo.Decimal128.fromString('1.50') }],
    [
      '{"a": {"$regularExpression": {"pattern": "x", "options": "i"}}}',
      { a: new mongo.BSONRegExp('x', 'i') },
    ],
    [
      '{"a": {"$in": [{"$oid": "6b0135868b2d4656a43aaa06"}, 5, "x", null]}}',
      {
        a: { $in: [new mongo.ObjectId('6b0135868b2d4656a43aaa06'), 5, 'x', null] },
      },
    ],
  ])('%s is extended JSON', (text, filter) => {
    expect(parseFilter(text)).toEqual(filter);
  });

  it('keeps $regex as the operator that it is, with what stands beside it', () => {
    const text = '{"a":{"$regex":"x","$options":"i","$ne":"xy"}}';
    expect(JSON.stringify(parseFilter(text))).toBe(text);
  });

  it.each([
    '{"a":{"$date":"2026-01-01T00:00:00.500Z"},"b":{"$oid":"6b0135868b2d4656a43aaa06"}}',
    '{"a":{"$not":{"$regex":"x"}},"b":{"$numberDecimal":"1.50"},"c":{"$in":[1,2.5,"x",true,null]}}',
  ])('is shown as it was given: %s', (text) => {
    expect(JSON.stringify(filterJson(parseFilter(text)))).toBe(text);
  });

  it.each([
    ['{"a":', 'The filter is not JSON'],
    [
      '{"a": {"$oid": "x"}}',
      'The filter is not valid. "$oid" takes 24 hexadecimal digits; a has {"$oid":"x"}.',
    ],
    ['{"$where": "true"}', 'The filter is not valid. "$where" at the top is not allowed'],
    ['[]', 'The filter is not valid. The filter must be a document'],
    ['@/no/such/file', 'The filter cannot be read from /no/such/file: there is no such file'],
  ])('%s is refused in one line', async (text, sentence) => {
    await expect(filterOf(text)).rejects.toThrow(sentence);
    await expect(filterOf(text)).rejects.not.toThrow('\n');
  });
});
