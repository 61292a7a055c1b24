import fc from 'fast-check';
import type { Example } from './example.js';
import * as raw from './raw-bson.js';

const doubles = fc.oneof(
  fc.double(),
  fc.integer({ min: -1e9, max: 1e9 }).map((whole) => whole / 100),
  fc.tuple(fc.integer(), fc.integer({ min: 0, max: 12 })).map(([whole, power]) => whole / 10 ** power),
  fc.maxSafeInteger().map((whole) => whole / 1e6),
  fc.constantFrom(0, -0, 5e-324, -5e-324, 2 ** 53, 2 ** 53 - 1, -(2 ** 53), 1e15, 1e21, 1e300, 0.1 + 0.2),
  fc.constantFrom(
    1e-6,
    1e-7,
    0.000001234,
    123456789.123456,
    4503599627370495.5,
    999999999.999999,
    0.5,
    1.005,
  ),
);

const doubleExample: fc.Arbitrary<Example> = doubles.map((number) => ({
  stored: raw.double(number),
  text: Number.isFinite(number) ? JSON.stringify(number) : 'null',
}));

const int64Example: fc.Arbitrary<Example> = fc
  .oneof(
    fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
    fc
      .tuple(fc.bigInt({ min: 0n, max: 18n }), fc.bigInt({ min: -2n, max: 2n }))
      .map(([p, d]) => 10n ** p + d),
    fc.constantFrom(-(2n ** 63n), 2n ** 63n - 1n, 2n ** 32n, 2n ** 32n - 1n, 0n, -1n, 2n ** 53n + 1n),
  )
  .map((number) => ({ stored: raw.int64(number), text: String(number) }));

const int32Example: fc.Arbitrary<Example> = fc
  .oneof(fc.integer(), fc.integer({ min: -1000, max: 1000 }), fc.constantFrom(-(2 ** 31), 2 ** 31 - 1))
  .map((number) => ({ stored: raw.int32(number), text: String(number) }));

const timestampExample: fc.Arbitrary<Example> = fc
  .bigInt({ min: 0n, max: 2n ** 64n - 1n })
  .map((number) => ({ stored: raw.int64(number, 0x11), text: `"${number}"` }));

const decimalExample: fc.Arbitrary<Example> = fc
  .tuple(
    fc.oneof(fc.bigInt({ min: -(10n ** 33n), max: 10n ** 33n }), fc.bigInt({ min: -10000n, max: 10000n })),
    fc.oneof(fc.integer({ min: 0, max: 30 }), fc.integer({ min: 0, max: 10 })),
  )
  .map(([digits, decimals]) => {
    const coefficient = digits < 0n ? -digits : digits;
    const high = (coefficient >> 64n) | (BigInt(6176 - decimals) << 49n) | (digits < 0n ? 1n << 63n : 0n);
    const bytes = Buffer.concat([raw.int64(coefficient).bytes, raw.int64(high).bytes]);
    return { stored: { type: 0x13, bytes }, text: JSON.stringify(decimalText(digits, decimals)) };
  });

/** IEEE 754-2008: an exponent only where there would be more than six zeros in front of the first digit. */
function decimalText(digits: bigint, decimals: number): string {
  const sign = digits < 0n ? '-' : '';
  const figures = String(digits).replace('-', '');
  if (decimals === 0) return sign + figures;
  const exponent = figures.length - 1 - decimals;
  if (exponent < -6) {
    const fraction = figures.length > 1 ? `.${figures.slice(1)}` : '';
    return `${sign}${figures[0]}${fraction}E${exponent}`;
  }
  const padded = figures.padStart(decimals + 1, '0');
  return `${sign}${padded.slice(0, -decimals)}.${padded.slice(-decimals)}`;
}

export const numberExample = fc.oneof(
  { weight: 3, arbitrary: doubleExample },
  { weight: 2, arbitrary: int64Example },
  { weight: 2, arbitrary: int32Example },
  timestampExample,
  { weight: 2, arbitrary: decimalExample },
);
