import { Buffer } from 'node:buffer';
import { list, text } from './raw-bson.js';
import { shown } from './text-bytes.js';
import { textOfValue } from './transcript.js';

const AT_ONCE = 500;

/** Both sides of every border that well-formed sequences know. */
const BYTES = [
  ...[0x00, 0x22, 0x41, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0, 0xc1, 0xc2],
  ...[0xdf, 0xe0, 0xe1, 0xec, 0xed, 0xee, 0xef, 0xf0, 0xf1, 0xf3, 0xf4, 0xf5, 0xff],
];

/** All sequences of so many of the bytes. */
function sequences(length: number): number[][] {
  if (length === 0) return [[]];
  return sequences(length - 1).flatMap((beginning) => BYTES.map((byte) => [...beginning, byte]));
}

/** Those of the texts that are not shown as decoders show them. */
function wrong(texts: Buffer[]): Buffer[] {
  const found: Buffer[] = [];
  for (let first = 0; first < texts.length; first += AT_ONCE) {
    const some = texts.slice(first, first + AT_ONCE);
    const expected = some.map(shown).join(',');
    if (textOfValue(list(some.map((bytes) => text(bytes)))) === `"v":[${expected}]`) continue;
    found.push(...some.filter((bytes) => textOfValue(text(bytes)) !== `"v":${shown(bytes)}`));
  }
  return found;
}

/** Behind so many bytes that are not ASCII: vectors begin at the first such byte. */
function placed(sequence: number[], before: number, after: string): Buffer {
  const beginning = before % 2 === 0 ? 'é'.repeat(before / 2) : `€${'é'.repeat((before - 3) / 2)}`;
  return Buffer.concat([Buffer.from(beginning), Buffer.from(sequence), Buffer.from(after)]);
}

describe('UTF-8 is shown as decoders show it', () => {
  it('three bytes of every sort, within a vector and across two, at the end and before more', () => {
    for (const before of [0, 3, 13, 14, 15, 16]) {
      for (const after of ['', 'abcdefghijklmnop€']) {
        expect(wrong(sequences(3).map((sequence) => placed(sequence, before, after)))).toEqual([]);
      }
    }
  });

  it('four bytes of every sort', () => {
    const all = sequences(4).map((sequence, index) => placed(sequence, 12 + (index % 4), 'é'));
    expect(wrong(all)).toEqual([]);
  });

  it('texts of many slices, well-formed and not', () => {
    const long = 'é€😀"\n'.repeat(5000);
    for (let cut = 0; cut < 4; cut++) {
      const bytes = Buffer.from(`${'x'.repeat(cut)}${long}`);
      const broken = Buffer.concat([bytes, Buffer.of(0xf0, 0x9f)]);
      expect(wrong([bytes, bytes.subarray(0, -2), broken, Buffer.concat([broken, bytes])])).toEqual([]);
    }
  });
});
