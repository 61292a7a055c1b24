const LEAST = -292;
const GREATEST = 324;
const BITS = 128;
const HALF = 64n;
const LOWER_HALF = (1n << HALF) - 1n;

/**
 * The powers of ten from 10^-292 to 10^324 that the program writes doubles with: of each the first 128 bits, rounded up,
 * in two halves, the upper one first.
 */
export function powersOfTen(): BigUint64Array<ArrayBuffer> {
  const halves: bigint[] = [];
  for (let exponent = LEAST; exponent <= GREATEST; exponent += 1) {
    const power = firstBits(exponent);
    halves.push(power >> HALF, power & LOWER_HALF);
  }
  return new BigUint64Array(halves);
}

function firstBits(exponent: number): bigint {
  const cut = floorLog2Pow10(exponent) - (BITS - 1);
  const [numerator, divisor] = [10n ** BigInt(Math.max(0, exponent)), 10n ** BigInt(Math.max(0, -exponent))];
  return cut > 0
    ? dividedUp(numerator, divisor << BigInt(cut))
    : dividedUp(numerator << BigInt(-cut), divisor);
}

function dividedUp(numerator: bigint, divisor: bigint): bigint {
  return (numerator + divisor - 1n) / divisor;
}

/** The greatest `n` with 2^n at most 10^exponent. */
function floorLog2Pow10(exponent: number): number {
  return (exponent * 1_741_647) >> 19;
}
