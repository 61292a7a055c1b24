import mongoose from 'mongoose';
import { type Filter, indexAdvice } from '../../../src/application/pure.js';

const { mongo } = mongoose;
const over = (field: string) => ({ organizationid: 1, appid: 1, [field]: 1 });

describe('The index that would serve a filter is over organization, application and one field', () => {
  it.each<[string, Filter]>([
    ['one value', { 'data.a': 1 }],
    ['a document', { 'data.a': { b: 1 } }],
    ['a list', { 'data.a': [1, 2] }],
    ['null', { 'data.a': null }],
    ['$eq', { 'data.a': { $eq: 'x' } }],
    ['$eq of a regular expression', { 'data.a': { $eq: /x/i } }],
    ['$in', { 'data.a': { $in: [1, 'x', null] } }],
    ['$in of texts at the beginning', { 'data.a': { $in: [1, /^x/] } }],
    ['$gt', { 'data.a': { $gt: 5 } }],
    ['$gte $lt', { 'data.a': { $gte: new Date(0), $lt: new Date(1) } }],
    ['$lte of a 64-bit integer', { 'data.a': { $lte: mongo.Long.fromNumber(5) } }],
    ['$gt beside what no index serves', { 'data.a': { $gt: 5, $exists: true, $ne: 7 } }],
    ['$exists: false', { 'data.a': { $exists: false } }],
    ['a text at the beginning', { 'data.a': /^ab.*c/ }],
    ['the same as $regex', { 'data.a': { $regex: '^ab', $options: 's' } }],
    ['the same in BSON', { 'data.a': new mongo.BSONRegExp('^ab', '') }],
    ['a text whose last letter is repeated', { 'data.a': { $regex: '^ab*' } }],
    ['$all', { 'data.a': { $all: [1, 2] } }],
    ['$elemMatch of values', { 'data.a': { $elemMatch: { $gt: 1, $lt: 5 } } }],
    ['$elemMatch of documents', { data: { $elemMatch: { a: 1 } } }],
    ['$and', { $and: [{ $nor: [{ 'data.b': 1 }] }, { $and: [{ 'data.a': 1 }] }] }],
    ['$or of the same field', { $or: [{ 'data.a': 1 }, { 'data.b': 1, 'data.a': { $gt: 5 } }] }],
    ['a field beside $or', { $or: [{ 'data.b': 1 }, { 'data.c': 1 }], 'data.a': { $gt: 1 } }],
  ])('%s', (_name, filter) => {
    expect(indexAdvice(filter)).toEqual(over('data.a'));
  });

  it.each<[string, Filter]>([
    ['no condition', {}],
    ['$ne', { 'data.a': { $ne: 1 } }],
    ['$nin', { 'data.a': { $nin: [1] } }],
    ['$not', { 'data.a': { $not: { $gt: 5 } } }],
    ['$nor', { $nor: [{ 'data.a': 1 }] }],
    ['$exists: true', { 'data.a': { $exists: true } }],
    ['$type', { 'data.a': { $type: 'string' } }],
    ['$size', { 'data.a': { $size: 1 } }],
    ['$mod', { 'data.a': { $mod: [4, 0] } }],
    ['$in of nothing', { 'data.a': { $in: [] } }],
    ['$in of a text anywhere', { 'data.a': { $in: [1, /x/] } }],
    ['$gt of null', { 'data.a': { $gt: null } }],
    ['$lt of the greatest key', { 'data.a': { $lt: new mongo.MaxKey() } }],
    ['$gt beside it', { 'data.a': { $gt: 5, $lt: new mongo.MaxKey() } }],
    ['$gt of a list', { 'data.a': { $gt: [1] } }],
    ['a text anywhere', { 'data.a': /ab/ }],
    ['a text in any case', { 'data.a': { $regex: '^ab', $options: 'i' } }],
    ['a text at the beginning of a line', { 'data.a': /^ab/m }],
    ['one of two texts', { 'data.a': /^ab|c/ }],
    ['a letter that may be missing', { 'data.a': /^a*b/ }],
    ['a beginning that is no text', { 'data.a': /^[ab]/ }],
    ['$or of different fields', { $or: [{ 'data.a': 1 }, { 'data.b': 1 }] }],
    ['$or with something that no index serves', { $or: [{ 'data.a': 1 }, { 'data.a': { $ne: 2 } }] }],
    ['$all of $elemMatch', { data: { $all: [{ $elemMatch: { a: { $gt: 1 } } }] } }],
    ['$all within $elemMatch', { 'data.a': { $elemMatch: { $all: [1, 2] } } }],
    ['$or within $elemMatch', { data: { $elemMatch: { $or: [{ a: 1 }, { a: 2 }] } } }],
    ['a place in a list', { 'data.rows.0.price': 5 }],
    ['a name that is a number', { 'data.7': 5 }],
    ['an empty name', { 'data.': 5, '': 1 }],
    ['all of data', { data: { a: 1 } }],
    [
      'fields with indexes of the service',
      { id: 'x', lastupdated: new Date(0), _id: 1, organizationid: 'x' },
    ],
  ])('none for %s', (_name, filter) => {
    expect(indexAdvice(filter)).toBeUndefined();
  });

  it('the field that narrows most; of several the first', () => {
    const filter = {
      'data.e': null,
      'data.d': { $gt: 1 },
      'data.c': { $gt: 1, $lt: 2 },
      'data.b': { $in: [1] },
    };
    expect(indexAdvice(filter)).toEqual(over('data.b'));
    expect(indexAdvice({ ...filter, 'data.a': 1, 'data.z': 2 })).toEqual(over('data.a'));
    expect(indexAdvice({ 'data.d': { $gt: 1 }, 'data.c': { $gt: 1, $lt: 2 } })).toEqual(over('data.c'));
    expect(indexAdvice({ 'data.e': null, 'data.d': { $gt: 1 } })).toEqual(over('data.d'));
    expect(
      indexAdvice({
        $or: [
          { a: 1, b: 1 },
          { a: { $gt: 1 }, b: 2 },
        ],
      }),
    ).toEqual(over('b'));
  });
});
