import mongoose from 'mongoose';
import { filterFault } from '../../../src/application/pure.js';

const { mongo } = mongoose;

const nested = (levels: number): unknown => (levels === 1 ? 1 : { deeper: nested(levels - 1) });
const list = (length: number) => Array.from({ length }, (_, index) => index);

describe('allowed operators (contract §4)', () => {
  it.each<[string, unknown]>([
    ['no condition at all', {}],
    ['equality', { 'data.datasource': 'erp' }],
    ['$and $or $nor', { $and: [{ $or: [{ a: 1 }, { b: 2 }] }, { $nor: [{ c: 3 }] }] }],
    ['$not of a condition', { a: { $not: { $gt: 5 } } }],
    ['$not of a regular expression', { a: { $not: /x/ } }],
    ['$eq $ne $gt $gte $lt $lte', { a: { $eq: 1, $ne: 2, $gt: 0, $gte: 1, $lt: 9, $lte: 8 } }],
    ['$in $nin', { a: { $in: [1, 'x', null, /y/] }, b: { $nin: [] } }],
    ['$exists', { a: { $exists: true } }],
    ['$type', { a: { $type: 'string' }, b: { $type: [2, 'date'] } }],
    ['$size', { channels: { $size: 0 } }],
    ['$all of values', { channels: { $all: ['web', 'shop'] } }],
    ['$all of $elemMatch', { rows: { $all: [{ $elemMatch: { a: 1 } }, { $elemMatch: { b: 2 } }] } }],
    ['$elemMatch with a filter', { rows: { $elemMatch: { a: { $gt: 1 }, $or: [{ b: 1 }, { b: 2 }] } } }],
    ['$elemMatch that begins with $or', { rows: { $elemMatch: { $or: [{ b: 1 }, { b: 2 }] } } }],
    ['$elemMatch with a condition', { rows: { $elemMatch: { $gte: 1, $lt: 5 } } }],
    ['$mod', { a: { $mod: [4, 0] } }],
    ['$regex $options', { a: { $regex: '^x', $options: 'i' } }],
    ['a document as value', { data: { color: 'red', sizes: [1, 2, { wide: true }] } }],
    ['text that looks like an operator', { a: '$where', b: { $in: ['$gt'] } }],
    ['a dollar that is not first', { 'data.price$': 1 }],
  ])('lets %s pass', (_name, filter) => {
    expect(filterFault(filter)).toBeUndefined();
  });

  it('takes BSON values as values', () => {
    const values = [
      ...[new Date(0), new mongo.ObjectId(), /x/i, new mongo.BSONRegExp('x', 'i')],
      ...[mongo.Decimal128.fromString('1.5'), mongo.Long.fromNumber(5), 5n, new mongo.Double(1)],
      ...[new mongo.Binary(Buffer.from('x')), Buffer.from('x'), new mongo.UUID(), new mongo.MinKey()],
    ];
    for (const value of values) {
      expect(filterFault({ a: value })).toBeUndefined();
      expect(filterFault({ a: { $in: [value] } })).toBeUndefined();
    }
    expect(filterFault({ a: { $size: mongo.Long.fromNumber(2) } })).toBeUndefined();
  });
});

describe('any other operator makes the filter invalid', () => {
  it.each<[string, unknown]>([
    ['at the top', { $where: 'true' }],
    ['$expr', { $expr: { $function: { body: 'x', args: [], lang: 'js' } } }],
    ['$text', { $text: { $search: 'x' } }],
    ['$jsonSchema', { $jsonSchema: {} }],
    ['$comment', { a: 1, $comment: 'x' }],
    ['in a condition', { a: { $near: [0, 0] } }],
    ['in $and', { $and: [{ a: 1 }, { $where: 'true' }] }],
    ['in $not', { a: { $not: { $geoWithin: {} } } }],
    ['in $elemMatch', { a: { $elemMatch: { $where: 'true' } } }],
    ['in $elemMatch after a field', { a: { $elemMatch: { b: 1, $expr: true } } }],
    ['in a value', { a: { b: { $where: 'true' } } }],
    ['in a list of values', { a: { $in: [1, { $function: {} }] } }],
    ['in the value of $eq', { a: { $eq: { deep: [{ $ref: 'x' }] } } }],
    ['in $all', { a: { $all: [{ $foo: 1 }] } }],
    ['a lone dollar', { $: 1 }],
    ['a name that objects inherit', { a: { $constructor: 1 } }],
  ])('%s', (_name, filter) => {
    expect(filterFault(filter)).toMatch(
      /^"\$\w*" .* is not allowed; allowed operators are \$and \$or \$nor \$not .* \$options\.$/,
    );
  });

  it('names the place', () => {
    expect(filterFault({ $or: [{ a: 1 }, { 'data.x': { $foo: 1 } }] })).toContain(
      '"$foo" at $or[1].data.x is',
    );
    expect(filterFault({ $where: 'true' })).toContain('"$where" at the top is');
  });
});

describe('operators in the wrong place or with the wrong argument', () => {
  it.each<[string, unknown, string]>([
    ['no document', 'x', 'The filter must be a document'],
    ['a list', [{ a: 1 }], 'The filter must be a document'],
    ['null', null, 'The filter must be a document'],
    ['a condition without a field', { $gt: 5 }, '"$gt" at the top needs a field around it'],
    ['$or after a field', { a: { $or: [{ b: 1 }] } }, '"$or" at a joins whole filters'],
    ['an operator in a value', { data: { price: { $gt: 5 } } }, '"$gt" at data.price is inside a value'],
    ['an operator in $eq', { a: { $eq: { $gt: 5 } } }, '"$gt" at a.$eq is inside a value'],
    ['an operator in $all', { a: { $all: [{ $gt: 5 }] } }, '"$gt" at a.$all[0] is inside a value'],
    ['operators mixed with keys', { a: { $gt: 5, b: 1 } }, 'a mixes operators with the key "b"'],
    ['$and of nothing', { $and: [] }, '"$and" takes a list of one or more filters'],
    ['$or of a document', { $or: { a: 1 } }, '"$or" takes a list of one or more filters'],
    ['$nor of a text', { $nor: ['x'] }, '$nor[0] must be a document'],
    ['$in of a value', { a: { $in: 5 } }, '"$in" takes a list of values; a.$in is something else'],
    ['$nin of a document', { a: { $nin: {} } }, '"$nin" takes a list'],
    ['$all of a value', { a: { $all: 5 } }, '"$all" takes a list'],
    ['$not of a value', { a: { $not: 5 } }, '"$not" takes a condition'],
    ['$not of nothing', { a: { $not: {} } }, '"$not" takes a condition'],
    ['$elemMatch of a list', { a: { $elemMatch: [1] } }, '"$elemMatch" takes a filter'],
    ['$size of a text', { a: { $size: '1' } }, '"$size" takes a whole number'],
    ['$size below nothing', { a: { $size: -1 } }, '"$size" takes a whole number'],
    ['$type of a document', { a: { $type: {} } }, '"$type" takes the name or number'],
    ['$mod of one number', { a: { $mod: [1] } }, '"$mod" takes a list of two numbers'],
    ['$regex of a number', { a: { $regex: 5 } }, '"$regex" takes a regular expression'],
    ['$options of a number', { a: { $regex: 'x', $options: 5 } }, '"$options" takes a text'],
    ['$options alone', { a: { $options: 'i' } }, '"$options" at a needs "$regex"'],
    ['code', { a: new mongo.Code('x') }, 'a is a kind of value that a filter cannot compare with'],
    ['a reference', { a: new mongo.DBRef('x', new mongo.ObjectId()) }, 'a is a kind of value'],
    ['a date that is none', { a: new Date(NaN) }, 'a is a kind of value'],
    ['a key that passes for a BSON type', { a: { _bsontype: 'ObjectId' } }, 'a is a kind of value'],
  ])('%s', (_name, filter, sentence) => {
    expect(filterFault(filter)).toContain(sentence);
  });
});

describe('a depth over 10 or more than 1,000 values', () => {
  it('counts documents and lists as levels, the filter itself as the first', () => {
    expect(filterFault({ a: nested(10) })).toBeUndefined();
    expect(filterFault({ a: nested(11) })).toContain('nested deeper than 10 levels');
    expect(filterFault({ a: [[[[[[[[[]]]]]]]]] })).toBeUndefined();
    expect(filterFault({ a: [[[[[[[[[[]]]]]]]]]] })).toContain('nested deeper than 10 levels');
  });

  it('is not exhausted by any nesting', () => {
    let filter: object = { a: 1 };
    for (let level = 0; level < 200_000; level += 1) filter = { $and: [filter] };
    expect(filterFault(filter)).toContain('nested deeper than 10 levels');
    const circle: Record<string, unknown> = {};
    circle['a'] = circle;
    expect(filterFault(circle)).toContain('nested deeper than 10 levels');
  });

  it('counts every value, wherever it stands', () => {
    expect(filterFault({ a: { $in: list(1000) } })).toBeUndefined();
    expect(filterFault({ a: { $in: list(1001) } })).toContain('more than 1000 values');
    expect(filterFault({ a: { $in: list(600) }, b: { $nin: list(400) } })).toBeUndefined();
    expect(filterFault({ a: { $in: list(600) }, b: { $nin: list(401) } })).toContain('more than 1000 values');
    expect(filterFault({ a: list(1001).map(() => ({})) })).toContain('more than 1000 values');
    expect(filterFault(Object.fromEntries(list(1001).map((n) => [`f${n}`, n])))).toContain('more than 1000');
  });
});

describe('a field that the service keeps for itself', () => {
  it.each<[string, unknown]>([
    ['at the top', { emailkey: 'ann@example.com' }],
    ['beside other fields', { 'data.n': 1, emailkey: { $exists: true } }],
    ['deeper', { 'emailkey.0': 'a' }],
    ['in $and', { $and: [{ a: 1 }, { emailkey: { $gt: 'm' } }] }],
    ['in $or in $nor', { $nor: [{ $or: [{ a: 1 }, { emailkey: null }] }] }],
  ])('%s makes the filter invalid', (_name, filter) => {
    expect(filterFault(filter)).toMatch(
      /^"emailkey(\.0)?" at .* is a field that the service keeps for itself; write "data\.email"/,
    );
  });

  it.each<[string, unknown]>([
    ['of the data', { 'data.emailkey': 'x' }],
    ['in a value', { data: { emailkey: 'x' } }],
    ['of an element', { rows: { $elemMatch: { emailkey: 'x', $or: [{ emailkey: 'y' }, { b: 1 }] } } }],
    ['of an element in $all', { rows: { $all: [{ $elemMatch: { emailkey: 'x' } }] } }],
    ['a name that only begins so', { emailkeys: 'x' }],
  ])('one of the same name %s does not', (_name, filter) => {
    expect(filterFault(filter)).toBeUndefined();
  });
});

describe('a password hash, which no answer shows', () => {
  it.each<[string, unknown, string]>([
    ['by a pattern', { 'data.passwordhash': { $regex: '^a' } }, 'at the top'],
    ['by its presence', { 'data.passwordhash': { $exists: true } }, 'at the top'],
    [
      'in $nor in $or',
      { $or: [{ a: 1 }, { $nor: [{ 'data.passwordhash': { $gt: 'm' } }] }] },
      'at $or[1].$nor[0]',
    ],
    ['deeper', { 'data.passwordhash.0': 'x' }, 'at the top'],
    ['of a place in a list', { 'data.0.passwordhash': 'x' }, 'at the top'],
    ['of an element', { data: { $elemMatch: { passwordhash: /^a/ } } }, 'at data.$elemMatch'],
    [
      'of an element in $all',
      { data: { $all: [{ $elemMatch: { passwordhash: 'x' } }] } },
      'at data.$all[0].$elemMatch',
    ],
    ['in a value', { data: { n: 1, passwordhash: 'x' } }, 'at data'],
    ['in one of several values', { data: { $in: [1, { passwordhash: 'x' }] } }, 'at data.$in[1]'],
  ])('%s makes the filter invalid', (_name, filter, at) => {
    const fault = filterFault(filter)!;
    expect(fault).toMatch(
      /^"[a-z0-9.]*passwordhash(\.0)?" at .* is a password hash, which no filter may use; write /,
    );
    expect(fault).toContain(`" ${at} is`);
  });

  it.each<[string, unknown]>([
    ['$gt', { data: { $gt: { accountnumber: '1' } } }],
    ['$lte in $not', { data: { $not: { $lte: { accountnumber: '1' } } } }],
    ['$lt in a list', { data: { $lt: [{ accountnumber: '1' }] } }],
    ['$gte of an element', { data: { $elemMatch: { $gte: { accountnumber: '1' } } } }],
  ])('is not guessed by the order of the whole data: %s', (_name, filter) => {
    expect(filterFault(filter)).toMatch(
      /^"data" at .* is compared by order as a whole, with the password hash in it;/,
    );
  });

  it.each<[string, unknown]>([
    ['at the top of the record', { passwordhash: 'x' }],
    ['of other data', { 'data.login.passwordhash': 'x' }],
    ['of an element of a list in the data', { 'data.rows': { $elemMatch: { passwordhash: 'x' } } }],
    ['a name that only begins so', { 'data.passwordhashes': 'x' }],
    ['the data as a whole, by its presence', { data: { $exists: true, $ne: null, $type: 'object' } }],
    ['a document of the data by order', { 'data.size': { $gt: { cm: 5 } } }],
  ])('another field may be looked at: %s', (_name, filter) => {
    expect(filterFault(filter)).toBeUndefined();
  });
});

describe('64 KiB or more', () => {
  const ofBytes = (bytes: number) => {
    const empty = mongo.BSON.serialize({ a: '' }).length;
    return { a: 'x'.repeat(bytes - empty) };
  };

  it('counts the bytes of BSON', () => {
    expect(mongo.BSON.serialize(ofBytes(65_535))).toHaveLength(65_535);
    expect(filterFault(ofBytes(65_535))).toBeUndefined();
    expect(filterFault(ofBytes(65_536))).toBe(
      'The filter takes 65536 bytes; it must be smaller than 65536 (64 KiB).',
    );
    expect(filterFault({ a: { $in: list(60).map(() => 'ü'.repeat(600)) } })).toContain('64 KiB');
  });

  it.each<[string, unknown]>([
    ['one text', ofBytes(5_000_000)],
    ['one name', { ['x'.repeat(5_000_000)]: 1 }],
    ['one list', { a: { $in: list(500_000) } }],
    ['lists in lists', { a: list(1000).map(() => list(1000)) }],
    ['names', Object.fromEntries(list(500_000).map((n) => [`f${n}`, n]))],
  ])('5 MB in %s are refused with one short sentence', (_name, filter) => {
    expect(filterFault(filter)?.length).toBeLessThan(200);
  });
});
