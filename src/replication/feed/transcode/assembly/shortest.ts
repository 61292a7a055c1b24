/*
 * The shortest decimal that is read as a given double and no other; of several, the one nearest to it. This is the
 * algorithm Schubfach (Raffaello Giulietti, "The Schubfach way to render doubles"): a double lies between two neighbours, and
 * of the decimals of a well-chosen size at most four can lie closer to it than to them.
 */

const FRACTION_BITS = 52;
const FRACTION: u64 = (1 << FRACTION_BITS) - 1;
const HIDDEN: u64 = 1 << FRACTION_BITS;
const EXPONENT: u64 = 0x7ff;
const BIAS = 1075;

/** The powers of ten that are needed, and how many bytes each takes: 128 bits, upper half first. */
const LEAST_POWER = -292;
const GREATEST_POWER = 324;
const POWER_BYTES = 16;

/** Where the host puts the powers of ten (`powers-of-ten.ts`). */
export const POWERS: usize = memory.data((GREATEST_POWER - LEAST_POWER + 1) * POWER_BYTES, 16);

/** The digits of the last decimal, as a whole number that does not end in 0, and the power of ten that it is times. */
export let decimalDigits: u64 = 0;
export let decimalExponent: i32 = 0;

/** Prices and measures have few places behind the point. */
const HUNDRED: f64 = 100;
const TEN_THOUSAND: f64 = 10_000;
/** No two decimals of 15 digits are read as the same double. */
const FIRST_AMBIGUOUS: f64 = 1e15;

/** Finds the decimal of a double that is positive and finite. */
export function shortest(value: f64): void {
  if (!isScaled(value, HUNDRED, -2) && !isScaled(value, TEN_THOUSAND, -4)) search(value);
  while (decimalDigits % 10 === 0) {
    decimalDigits /= 10;
    decimalExponent += 1;
  }
}

/** Whether a decimal with so few places is read as the double, and, if it is, finds it. */
function isScaled(value: f64, scale: f64, exponent: i32): bool {
  const scaled = nearest(value * scale);
  if (scaled >= FIRST_AMBIGUOUS || scaled / scale !== value) return false;
  set(scaled as u64, exponent);
  return true;
}

function search(value: f64): void {
  const bits = reinterpret<u64>(value);
  const fraction = bits & FRACTION;
  const biased = ((bits >> FRACTION_BITS) & EXPONENT) as i32;
  const isSubnormal = biased === 0;
  const significand = isSubnormal ? fraction : fraction | HIDDEN;
  const exponent = (isSubnormal ? 1 : biased) - BIAS;
  find(significand, exponent, fraction === 0 && biased > 1);
}

/** `isLowerCloser`: the neighbour below is half as far away as the one above. All is in units of a quarter. */
function find(significand: u64, exponent: i32, isLowerCloser: bool): void {
  const odd = significand & 1;
  const size = floorLog10Pow2(exponent, isLowerCloser);
  const shift = exponent + floorLog2Pow10(-size) + 1;
  const power = POWERS + ((-size - LEAST_POWER) as usize) * POWER_BYTES;
  const high = load<u64>(power);
  const low = load<u64>(power, 8);
  const quarters = significand << 2;
  const lower = timesPower(high, low, (quarters - (isLowerCloser ? 1 : 2)) << shift) + odd;
  const exact = timesPower(high, low, quarters << shift);
  const upper = timesPower(high, low, (quarters + 2) << shift) - odd;

  const digits = exact >> 2;
  if (digits >= 10) {
    const tens = digits / 10;
    const isDownWithin = lower <= 40 * tens;
    const isUpWithin = 40 * tens + 40 <= upper;
    if (isDownWithin !== isUpWithin) return set(tens + (isUpWithin as u64), size + 1);
  }
  const isDownWithin = lower <= 4 * digits;
  const isUpWithin = 4 * digits + 4 <= upper;
  if (isDownWithin !== isUpWithin) return set(digits + (isUpWithin as u64), size);
  const middle = 4 * digits + 2;
  const isUpNearer = exact > middle || (exact === middle && (digits & 1) !== 0);
  set(digits + (isUpNearer as u64), size);
}

function set(digits: u64, exponent: i32): void {
  decimalDigits = digits;
  decimalExponent = exponent;
}

/** The greatest `n` with 10^n at most 2^exponent, or three quarters of it where the neighbour below is closer. */
function floorLog10Pow2(exponent: i32, isLowerCloser: bool): i32 {
  return (exponent * 1_262_611 - (isLowerCloser ? 524_031 : 0)) >> 22;
}

/** The greatest `n` with 2^n at most 10^exponent. */
function floorLog2Pow10(exponent: i32): i32 {
  return (exponent * 1_741_647) >> 19;
}

/** The upper 64 bits of a product with a power of ten; the last of them is set, too, where anything was cut off. */
function timesPower(high: u64, low: u64, factor: u64): u64 {
  const carried = upperHalf(low, factor);
  const below = high * factor + carried;
  const above = upperHalf(high, factor) + ((below < carried) as u64);
  return above | ((below > 1) as u64);
}

/** The upper 64 bits of the product of two numbers of 64 bits. */
function upperHalf(one: u64, other: u64): u64 {
  const oneLow = one & 0xffff_ffff;
  const oneHigh = one >> 32;
  const otherLow = other & 0xffff_ffff;
  const otherHigh = other >> 32;
  const middle = oneHigh * otherLow + ((oneLow * otherLow) >> 32);
  const rest = oneLow * otherHigh + (middle & 0xffff_ffff);
  return oneHigh * otherHigh + (middle >> 32) + (rest >> 32);
}
