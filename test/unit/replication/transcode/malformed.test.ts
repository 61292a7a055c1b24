import { MalformedBsonError } from '../../../../src/replication/transcode/index.js';
import { dice, randomRecord } from './random-records.js';
import { bare, batch, document, double, int32, list, text, type Value } from './raw-bson.js';
import { DELETE, FIELDS, MEMBER, PRODUCT, record, textOf, textOfBatch, textOfValue } from './transcript.js';

/** What lay in the memory before, and every form in which it could show. */
const CANARY = '~'.repeat(20_000);
const TRACES = /~~~~|7e7e7e7e|2122219134|9114861777597660798|fn5\+|\dfn5/;
const CANARY_DOUBLE = String(Buffer.from('~~~~~~~~').readDoubleLE());

/** The text of bytes that may be malformed; nothing where they are refused. No other error, no trace of others. */
function tried(documents: Uint8Array): string | undefined {
  textOf(record({ data: document([['canary', text(CANARY)]]) }));
  try {
    const shown = textOfBatch(documents);
    expect(shown).not.toMatch(TRACES);
    expect(shown).not.toContain(CANARY_DOUBLE);
    return shown;
  } catch (error) {
    expect(error).toBeInstanceOf(MalformedBsonError);
    return undefined;
  }
}

/** Bytes of a batch with its length set right after a cut. */
function closed(bytes: Buffer): Buffer {
  const whole = Buffer.concat([bytes, Buffer.of(0)]);
  whole.writeInt32LE(whole.length);
  return whole;
}

function records(count: number, seed: number): Value[] {
  const roll = dice(seed);
  return Array.from({ length: count }, () => randomRecord(roll));
}

describe('malformed BSON', () => {
  it('cut after any byte is refused', () => {
    for (const one of records(8, 1)) {
      const whole = batch(one);
      expect(tried(whole)).toBeDefined();
      for (let length = 0; length < whole.length; length++) {
        expect(tried(whole.subarray(0, length))).toBeUndefined();
        if (length > 4 && length < whole.length - 1)
          expect(tried(closed(whole.subarray(0, length)))).toBeUndefined();
      }
    }
  });

  it('with any byte changed is refused, or shows what is in it and nothing else', () => {
    const roll = dice(2);
    let [refused, shown] = [0, 0];
    for (const one of records(60, 3)) {
      const whole = batch(one);
      for (let turn = 0; turn < 60; turn++) {
        const broken = Buffer.from(whole);
        for (let flips = roll(3); flips >= 0; flips--) broken[4 + roll(whole.length - 4)] = roll(256);
        if (tried(broken) === undefined) refused++;
        else shown++;
      }
    }
    expect(refused).toBeGreaterThan(500);
    expect(shown).toBeGreaterThan(500);
  });

  it('with any length that is wrong is refused', () => {
    const string = text('abc');
    const inner = document([['a', int32(1)]]);
    for (const [value, lengthAt] of [
      [string, 0],
      [inner, 0],
      [list([int32(1)]), 0],
      [{ type: 0x05, bytes: Buffer.of(1, 0, 0, 0, 0, 1) }, 0],
      [{ type: 0x0f, bytes: Buffer.concat([Buffer.of(0, 0, 0, 0), string.bytes, inner.bytes]) }, 0],
    ] as const)
      for (const wrong of [-1, -(2 ** 31), 2 ** 31 - 1, 1000, 0x7fff_fff0]) {
        const bytes = Buffer.from(value.bytes);
        bytes.writeInt32LE(wrong, lengthAt);
        expect(() => textOfValue({ type: value.type, bytes })).toThrow(MalformedBsonError);
      }
    expect(() => textOfValue({ type: 0x02, bytes: Buffer.of(0, 0, 0, 0) })).toThrow(MalformedBsonError);
    expect(() => textOfValue({ type: 0x03, bytes: Buffer.of(4, 0, 0, 0) })).toThrow(MalformedBsonError);
  });

  it('with more behind its end is refused', () => {
    const whole = batch(record());
    expect(() => textOfBatch(Buffer.concat([whole, whole]))).toThrow(MalformedBsonError);
  });

  it('with a double that is cut at the end of its list or document is refused', () => {
    for (const type of [0x03, 0x04])
      for (let length = 0; length < 8; length++) {
        const cut = { ...double(0.5), bytes: double(0.5).bytes.subarray(0, length) };
        expect(() => textOfValue(document([['0', cut]], type))).toThrow(MalformedBsonError);
      }
  });

  it('of a type that there is not is refused', () => {
    for (const type of [0x00, 0x14, 0x7e, 0x80, 0xfe])
      expect(() => textOfValue(bare(type))).toThrow(MalformedBsonError);
  });

  it('a text that does not end with a zero is refused', () => {
    const bytes = Buffer.from(text('abc').bytes);
    bytes[bytes.length - 1] = 0x64;
    expect(() => textOfValue({ type: 0x02, bytes })).toThrow(MalformedBsonError);
  });

  it('a key or pattern that no zero ends within its document is refused', () => {
    for (const length of [1, 2, 15, 16, 17, 40]) {
      const open = Buffer.concat([Buffer.of(0x0a), Buffer.alloc(length, 'k'), Buffer.of(0)]);
      const inner = Buffer.concat([int32(open.length + 4).bytes, open]);
      for (const type of [0x03, 0x04])
        expect(() => textOfValue({ type, bytes: inner })).toThrow(MalformedBsonError);
      const hash = document([['passwordhash', { type: 0x0b, bytes: Buffer.alloc(length, 'k') }]]);
      for (const shape of [PRODUCT, MEMBER])
        expect(() => textOf(record({ data: hash }), shape)).toThrow(MalformedBsonError);
    }
    const hash = Buffer.concat([int32(17).bytes, Buffer.of(0x0a), Buffer.from('passwordhash\0')]);
    expect(() => textOf(record({ data: { type: 0x03, bytes: hash } }), MEMBER)).toThrow(MalformedBsonError);
  });

  it('a batch that holds no documents, or documents without an ObjectId as _id, is refused', () => {
    expect(() => textOfBatch(list([int32(1)]).bytes)).toThrow(MalformedBsonError);
    for (const shape of [MEMBER, DELETE])
      for (const _id of [undefined, text('x'), int32(1), document([])]) {
        const fields = Object.entries({ ...FIELDS, _id });
        const odd = document(fields.filter((field): field is [string, Value] => field[1] !== undefined));
        expect(() => textOf(odd, shape)).toThrow(MalformedBsonError);
      }
  });

  it('does no harm to what comes after it', () => {
    const expected = textOf(record());
    expect(() => textOfValue(bare(0x14))).toThrow(MalformedBsonError);
    expect(textOf(record())).toBe(expected);
  });
});

describe('depth', () => {
  const nested = (depth: number, wrap: (inner: Value) => Value) => {
    let value = wrap(int32(1));
    for (let level = 1; level < depth; level++) value = wrap(value);
    return value;
  };
  const inDocument = (inner: Value) => document([['a', inner]]);
  const inList = (inner: Value) => list([inner]);

  it('as deep as MongoDB stores is shown', () => {
    expect(textOfValue(nested(200, inDocument))).toBe(`"v":${'{"a":'.repeat(200)}1${'}'.repeat(200)}`);
    expect(textOfValue(nested(200, inList))).toBe(`"v":${'['.repeat(200)}1${']'.repeat(200)}`);
  });

  it.each([300, 10_000])('of %d levels is refused, and nothing overflows', (depth) => {
    expect(() => textOfValue(nested(depth, inDocument))).toThrow(MalformedBsonError);
    expect(() => textOfValue(nested(depth, inList))).toThrow(MalformedBsonError);
  });
});
