import { randomFillSync } from 'node:crypto';
import { powersOfTen } from '../../../../src/replication/transcode/writer.js';
import { document, double } from './raw-bson.js';
import { textOfValue } from './transcript.js';

const AT_ONCE = 500;
const RANDOM = 100_000;
const LEAST_POWER = -292;

/** Those of the numbers that are not written as JSON.stringify writes them. */
function wrong(numbers: number[]): number[] {
  const found: number[] = [];
  for (let first = 0; first < numbers.length; first += AT_ONCE) {
    const some = numbers.slice(first, first + AT_ONCE);
    const stored = document(some.map((number, index) => [String(index), double(number)]));
    const written = textOfValue(stored).match(/[^{:,]+(?=[,}])/g);
    found.push(...some.filter((number, index) => written?.[index] !== JSON.stringify(number)));
  }
  return found;
}

/** A number with its neighbours among the doubles, four on each side, and all of them below zero, too. */
function around(number: number): number[] {
  const bits = new BigUint64Array(new Float64Array([number]).buffer)[0]!;
  const first = bits < 4n ? 0n : bits - 4n;
  const near = Array.from({ length: 9 }, (_, index) => first + BigInt(index));
  const numbers = [...new Float64Array(new BigUint64Array(near).buffer)];
  return [...numbers, ...numbers.map((one) => -one)];
}

const range = (first: number, last: number) => Array.from({ length: last - first + 1 }, (_, n) => first + n);

describe('Doubles are written as JSON.stringify writes them', () => {
  it('the powers of two and their neighbours, the smallest and the largest among them', () => {
    expect(wrong(range(-1074, 1023).flatMap((power) => around(2 ** power)))).toEqual([]);
    expect(wrong([Number.MAX_VALUE, -Number.MAX_VALUE, 0, -0, NaN, Infinity, -Infinity])).toEqual([]);
  });

  it('the powers of ten, some multiples and halves of them, and their neighbours', () => {
    const numbers = range(-324, 308).flatMap((power) =>
      ['1', '5', '9', '9.5', '1.25', '9007199254740993'].map((digits) => Number(`${digits}e${power}`)),
    );
    expect(wrong(numbers.filter(Number.isFinite).flatMap(around))).toEqual([]);
  });

  it('where an exponent begins to be shown, on both sides', () => {
    const edges = [1e21, 1.2e20, 1e-6, 1.5e-6, 2 ** 53, 1e15, 4.35];
    expect(wrong(edges.flatMap(around))).toEqual([]);
  });

  it('those with few decimals, from the shortest to 17 digits', () => {
    const numbers = range(0, 16).flatMap((digits) =>
      range(0, 12).flatMap((decimals) =>
        [`1${'0'.repeat(digits)}`, `${'9'.repeat(digits)}1`, '12345678901234567'.slice(0, digits + 1)].map(
          (whole) => Number(`${whole}e-${decimals}`),
        ),
      ),
    );
    expect(wrong(numbers.flatMap(around))).toEqual([]);
  });

  it('random ones, of all sizes', () => {
    expect(wrong([...new Float64Array(randomFillSync(new Uint8Array(RANDOM * 8)).buffer)])).toEqual([]);
  });

  it('random ones such as coordinates, weights and embeddings', () => {
    const numbers = Array.from({ length: RANDOM / 4 }, () => Math.random());
    const sizes = [1, -1, 180, 1e-3, 1e6, 2 ** 53];
    expect(wrong(sizes.flatMap((size) => numbers.map((number) => number * size)))).toEqual([]);
  });
});

describe('The powers of ten', () => {
  const halves = powersOfTen();
  const power = (exponent: number) => {
    const at = 2 * (exponent - LEAST_POWER);
    return (halves[at]! << 64n) | halves[at + 1]!;
  };

  it('are 617, each with its first bit set', () => {
    expect(halves).toHaveLength(2 * 617);
    for (let at = 0; at < halves.length; at += 2) expect(halves[at]! >> 63n).toBe(1n);
  });

  it('are exact where they fit, and else rounded up', () => {
    expect(power(0)).toBe(1n << 127n);
    expect(power(55)).toBe((10n ** 55n) >> 55n);
    expect(power(1)).toBe(10n << 124n);
    expect(power(-1)).toBe((1n << 131n) / 10n + 1n);
  });
});
