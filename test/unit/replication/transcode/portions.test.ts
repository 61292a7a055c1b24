import { giveBack, itemsText, type ItemsText } from '../../../../src/replication/transcode/index.js';
import { dice, randomRecord } from './random-records.js';
import {
  batch,
  binary,
  document,
  double,
  int32,
  int64,
  list,
  objectId,
  regExp,
  text,
  type Value,
} from './raw-bson.js';
import { plainText, plainTexts } from './reference.js';
import { DELETE, ID, MEMBER, PRODUCT, record, textOf, textOfBatch, textOfValue } from './transcript.js';

const MEGABYTE = 1024 * 1024;

describe('portions', () => {
  const roll = dice(4);
  const many = Array.from({ length: 3000 }, () => randomRecord(roll));

  it.each([PRODUCT, MEMBER, DELETE])('together are all items, in their order: %j', (shape) => {
    const portions = [...itemsText(batch(...many), shape)];
    expect(portions.length).toBeGreaterThan(2);
    const texts = portions.map(({ pieces }) => Buffer.concat([...pieces]).toString());
    expect(texts.join(',') === plainTexts(many, shape)).toBe(true);
    expect(portions.map(({ bytes }) => bytes)).toEqual(texts.map((one) => Buffer.byteLength(one)));
    const items = many.filter((one) => plainText(one, shape) !== '');
    expect(portions.reduce((sum, { count }) => sum + count, 0)).toBe(items.length);
  });

  it('each tell how many items there are and which is the last', () => {
    const ids = Array.from({ length: 5 }, (_, index) => `${'0'.repeat(23)}${index}`);
    const large = text('x'.repeat(100_000));
    const documents = ids.map((id) => record({ _id: objectId(id), data: document([['large', large]]) }));
    const told = [...itemsText(batch(...documents), PRODUCT)].map(({ count, last }) => ({ count, last }));
    expect(told).toEqual([
      { count: 2, last: ids[1] },
      { count: 2, last: ids[3] },
      { count: 1, last: ids[4] },
    ]);
  });

  it('a document larger than a portion is one of its own', () => {
    const large = record({ data: document([['large', text('y'.repeat(MEGABYTE))]]) });
    const portions = [...itemsText(batch(record(), large, record()), PRODUCT)];
    expect(portions.map(({ count }) => count)).toEqual([1, 1, 1]);
    expect(portions.map(({ last }) => last)).toEqual([ID, ID, ID]);
  });

  it('pieces stay as they are when more is written', () => {
    const portions = itemsText(batch(record()), PRODUCT);
    const { pieces } = portions.next().value as ItemsText;
    const before = Buffer.concat([...pieces]).toString();
    textOf(record({ data: document([['other', text('z'.repeat(MEGABYTE))]]) }));
    expect(Buffer.concat([...pieces]).toString()).toBe(before);
  });

  it('portions of several batches may be pulled by turns', () => {
    const [one, other] = [many.slice(0, 1500), many.slice(1500)];
    const [ones, others] = [itemsText(batch(...one), MEMBER), itemsText(batch(...other), DELETE)];
    const [oneTexts, otherTexts]: [string[], string[]] = [[], []];
    for (let left = 2; left > 0;) {
      left = 0;
      for (const [portions, texts] of [
        [ones, oneTexts],
        [others, otherTexts],
      ] as const) {
        const { value, done } = portions.next();
        if (done) continue;
        texts.push(Buffer.concat([...value.pieces]).toString());
        left++;
      }
    }
    expect(oneTexts.join(',') === plainTexts(one, MEMBER)).toBe(true);
    expect(otherTexts.join(',') === plainTexts(other, DELETE)).toBe(true);
  });

  it('of an empty batch there are none, nor of one in which nothing can be delivered', () => {
    expect([...itemsText(batch(), PRODUCT)]).toEqual([]);
    expect([...itemsText(batch(record({ id: undefined })), PRODUCT)]).toEqual([]);
  });

  it.each<[string, Value]>([
    ['a double', double(5)],
    ['a 32-bit integer', int32(5)],
    ['a 64-bit integer', int64(5n)],
    ['a decimal', { type: 0x13, bytes: Buffer.alloc(16) }],
  ])('end before the one that has a number as `id`, and tell where: %s', (_name, id) => {
    const large = record({ data: document([['large', text('y'.repeat(MEGABYTE))]]) });
    const [before, behind] = [batch(large), batch(record(), record({ id }))];
    const portions = itemsText(batch(large, record(), record({ id })), PRODUCT);
    expect((portions.next().value as ItemsText).count).toBe(1);
    expect(portions.next()).toEqual({ done: true, value: before.length - 1 });
    expect(itemsText(behind, PRODUCT).next()).toEqual({ done: true, value: 4 });
  });

  it('the last item is one that can be delivered', () => {
    const later = record({ _id: objectId('f'.repeat(24)), appid: list([text('webshop')]) });
    expect([...itemsText(batch(record(), later), PRODUCT)]).toMatchObject([{ count: 1, last: ID }]);
  });
});

describe('pieces', () => {
  const PIECE = 256 * 1024;
  const dataOf = (value: Value) => {
    const [portion] = [...itemsText(batch(record({ data: document([['v', value]]) })), PRODUCT)];
    return [...portion!.pieces];
  };
  const isSame = (value: Value, expected: string) => textOfValue(value) === `"v":${expected}`;

  it('are of one size, however long a text is and whatever must be escaped in it', () => {
    const controls = '\u0001'.repeat(2 * MEGABYTE);
    const pieces = dataOf(text(controls));
    expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThanOrEqual(PIECE);
    expect(pieces.length).toBeGreaterThan(40);
    expect(isSame(text(controls), JSON.stringify(controls))).toBe(true);
  });

  it('of a large record are made as they are taken: a few are there at a time', () => {
    const [portion] = [...itemsText(batch(record({ id: text('\u0001'.repeat(4 * MEGABYTE)) })), PRODUCT)];
    const memories = new Set<ArrayBufferLike>();
    let bytes = 0;
    for (const piece of portion!.pieces) {
      memories.add(piece.buffer);
      bytes += piece.length;
      giveBack(piece);
    }
    expect(bytes).toBe(portion!.bytes);
    expect(bytes).toBeGreaterThan(90 * PIECE);
    expect(memories.size).toBeLessThan(15);
  });

  it('of large records may be taken by turns', () => {
    const larges = ['"', '\u0001', 'é'].map((letter) => record({ id: text(letter.repeat(MEGABYTE)) }));
    const taken = larges.map((large) => {
      const [portion] = [...itemsText(batch(large), MEMBER)];
      return { pieces: portion!.pieces[Symbol.iterator](), parts: [] as Buffer[] };
    });
    for (let left = taken.length; left > 0;) {
      left = 0;
      for (const { pieces, parts } of taken) {
        const { value, done } = pieces.next();
        if (done === true) continue;
        parts.push(value);
        left += 1;
      }
    }
    taken.forEach(({ parts }, index) =>
      expect(Buffer.concat(parts).toString() === plainText(larges[index]!, MEMBER)).toBe(true),
    );
  });

  it('are cut anywhere without a trace: long texts of all sorts', () => {
    for (let shift = 0; shift < 17; shift++)
      for (const pattern of ['abcdefghijklmnopq', 'é', '€x', '😀', 'a"b\\c\n', 'xyz\u0000']) {
        const long = 'x'.repeat(shift) + pattern.repeat(300_000 / pattern.length);
        expect(isSame(text(long), JSON.stringify(long))).toBe(true);
      }
  });

  it('are cut anywhere without a trace: long binaries and keys', () => {
    for (let length = 600_000; length < 600_004; length++) {
      const bytes = Buffer.alloc(length, 'binary\u0000\u00ff', 'latin1');
      expect(isSame(binary(bytes), `"${bytes.toString('base64')}"`)).toBe(true);
    }
    const key = 'k"'.repeat(300_000);
    expect(textOfValue(text('x'), key) === `${JSON.stringify(key)}:"x"`).toBe(true);
  });

  it('are cut anywhere without a trace: what takes the slow road', () => {
    for (const length of [1, 100, 128, 129, 1000, 400_000]) {
      const pattern = 'ß"€'.repeat(length / 2 + 1);
      expect(isSame(regExp(pattern, ''), JSON.stringify(`/${pattern}/`))).toBe(true);
    }
  });

  it.each(['p'.repeat(1000), '€'.repeat(120)])(
    'hold no more where the slow road is at their end: %#',
    (pattern) => {
      const short = text('x'.repeat(10));
      for (let bytes = PIECE - 1300; bytes < PIECE; bytes += 50) {
        const before = Array.from({ length: bytes / '"xxxxxxxxxx",'.length }, () => short);
        const pieces = dataOf(list([...before, regExp(pattern, '')]));
        expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThanOrEqual(PIECE);
        expect(Buffer.concat(pieces).toString()).toContain(`xx","/${pattern}/"]`);
      }
    },
  );

  it('are cut anywhere without a trace: many small values', () => {
    for (let shift = 0; shift < 60; shift++) {
      const first = record({ id: text('x'.repeat(PIECE - 600 + shift * 11)) });
      const items = [first, ...Array.from({ length: 5 }, () => record())];
      const expected = items.map((item) => plainText(item, PRODUCT)).join(',');
      const pieces = [...itemsText(batch(...items), PRODUCT)].flatMap((portion) => [...portion.pieces]);
      expect(textOfBatch(batch(...items)) === expected).toBe(true);
      expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThanOrEqual(PIECE);
    }
  });
});
