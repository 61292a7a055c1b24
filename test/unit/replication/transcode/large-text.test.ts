import { Buffer } from 'node:buffer';
import { itemsText } from '../../../../src/replication/transcode/index.js';
import { dice, randomRecord } from './random-records.js';
import { batch, document, list, text, type Value } from './raw-bson.js';
import { plainText } from './reference.js';
import { MEMBER, PRODUCT, record } from './transcript.js';

const MEGABYTE = 1024 * 1024;
const DEEPEST = 254;

/** The text of one record that is too large to be held, which is made as it is taken. */
function largeText(stored: Value): Buffer {
  const [portion] = [...itemsText(batch(stored), MEMBER)];
  expect(portion!.pieces).not.toBeInstanceOf(Array);
  const text = Buffer.concat([...portion!.pieces]);
  expect(text.length).toBe(portion!.bytes);
  return text;
}

function nested(depth: number, inner: Value): Value {
  let value = inner;
  for (let level = 0; level < depth; level++)
    value = level % 2 === 0 ? document([['d', value]]) : list([value]);
  return value;
}

describe('The text of a large record', () => {
  it('goes on where it paused, wherever that is: between any two bytes of values of all sorts', () => {
    const roll = dice(5);
    const values = list(Array.from({ length: 8000 }, () => randomRecord(roll)));
    const under = (key: string) => record({ data: document([[key, values]]) });
    const expected = plainText(under('key'), MEMBER);
    for (let shift = 0; shift < 30; shift++) {
      const key = 'x'.repeat(7 * shift);
      expect(largeText(under(key)).toString() === expected.replace('"key"', `"${key}"`)).toBe(true);
    }
  });

  it('goes on at any depth', () => {
    const long = 'é"\u0001x'.repeat(MEGABYTE / 4);
    for (const depth of [1, 2, 100, DEEPEST]) {
      const data = document([['v', nested(depth, list([text(long), text('after')]))]]);
      const shown = largeText(record({ data })).toString();
      const start = shown.indexOf('["é');
      expect(JSON.parse(shown.slice(start, shown.indexOf('"after"]') + 8))).toEqual([long, 'after']);
      expect(JSON.parse(shown)).toBeDefined();
    }
  });

  it('is the same for every shape', () => {
    const large = record({ channels: list([text('a'), text('é'.repeat(2 * MEGABYTE))]) });
    const [portion] = [...itemsText(batch(large), PRODUCT)];
    expect(Buffer.concat([...portion!.pieces]).toString() === plainText(large, PRODUCT)).toBe(true);
  });

  it('may be left before its end', () => {
    const large = record({ id: text('x'.repeat(3 * MEGABYTE)) });
    for (let turn = 0; turn < 3; turn++) {
      const [portion] = [...itemsText(batch(large), MEMBER)];
      for (const piece of portion!.pieces) {
        expect(piece.toString().startsWith('{"id":"xxx')).toBe(true);
        break;
      }
    }
    expect(largeText(large).toString() === plainText(large, MEMBER)).toBe(true);
  });
});
