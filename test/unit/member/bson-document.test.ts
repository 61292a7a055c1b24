import mongoose from 'mongoose';
import { decode, isFaithful } from '../../../src/member/stored-member.js';
import type { BsonDocument } from '../../../src/member/merge.js';

const {
  BSON,
  Binary,
  BSONRegExp,
  Code,
  Decimal128,
  Double,
  Int32,
  Long,
  MaxKey,
  MinKey,
  ObjectId,
  Timestamp,
} = mongoose.mongo;

const bytesOf = (document: object) => BSON.serialize(document, { ignoreUndefined: false });
const doc = (entries: [string, unknown][]): BsonDocument => new Map(entries);

/** The bytes of `{v: …}` with a value of any type. */
function withValue(type: number, ...value: number[]): Uint8Array {
  const bytes = Buffer.from([0, 0, 0, 0, type, 0x76, 0, ...value, 0]);
  bytes.writeInt32LE(bytes.length, 0);
  return bytes;
}

describe('decoding a stored record', () => {
  it('keeps the stored order, also of names that look like numbers', () => {
    const raw = bytesOf(doc([['z', doc([['10', 'a'], ['2', 'b'], ['a', 'c'], ['1', 'd']])], ['0', 'e']])); // oxfmt-ignore
    const decoded = decode(raw);
    expect([...decoded.keys()]).toEqual(['z', '0']);
    expect([...(decoded.get('z') as BsonDocument).keys()]).toEqual(['10', '2', 'a', '1']);
    expect(isFaithful(decoded, raw)).toBe(true);
  });

  it('keeps every type', () => {
    const values = {
      double: new Double(1),
      int32: new Int32(1),
      int64: Long.fromString('9007199254740993'),
      decimal: Decimal128.fromString('1.10'),
      date: new Date(-1),
      text: 'ü\0\u{1F431}',
      nothing: null,
      yes: true,
      objectid: new ObjectId(),
      binary: new Binary(Buffer.from('x'), 128),
      regexp: new BSONRegExp('^a', 'i'),
      timestamp: new Timestamp({ t: 1, i: 2 }),
      code: new Code('x', { a: new Int32(1) }),
      min: new MinKey(),
      max: new MaxKey(),
      nested: [[new Int32(1), ['a', { b: [] }]], {}],
    };
    const raw = bytesOf(values);
    const decoded = decode(raw);
    expect(isFaithful(decoded, raw)).toBe(true);
    expect(decoded.get('int64')).toEqual(values.int64);
    expect(decoded.get('double')).toEqual(values.double);
    expect(decoded.get('nested')).toEqual([[new Int32(1), ['a', doc([['b', []]])]], doc([])]);
  });

  it('takes names that mean something in JavaScript for names', () => {
    const raw = bytesOf(doc([['__proto__', doc([['toBSON', 'x']])], ['_bsontype', 'ObjectId'], ['$a.b', 'c'], ['', 'd']])); // oxfmt-ignore
    const decoded = decode(raw);
    expect([...decoded.keys()]).toEqual(['__proto__', '_bsontype', '$a.b', '']);
    expect(isFaithful(decoded, raw)).toBe(true);
  });
});

describe('what cannot be written back byte for byte is told', () => {
  it.each<[string, Uint8Array]>([
    ['undefined', withValue(0x06)],
    ['a DBPointer', withValue(0x0c, 2, 0, 0, 0, 0x61, 0, ...new ObjectId().id)],
    ['a text that is not UTF-8', withValue(0x02, 2, 0, 0, 0, 0xff, 0)],
    ['a date JavaScript does not know', withValue(0x09, 255, 255, 255, 255, 255, 255, 255, 127)],
    ['a name used twice', Uint8Array.of(16, 0, 0, 0, 16, 97, 0, 1, 0, 0, 0, 8, 97, 0, 1, 0)],
  ])('%s', (_what, raw) => {
    expect(isFaithful(decode(raw), raw)).toBe(false);
  });

  it('a vector that the driver refuses to write', () => {
    const raw = withValue(0x05, 3, 0, 0, 0, 9, 0x03, 7, 0xff);
    expect(isFaithful(decode(raw), raw)).toBe(false);
  });
});
