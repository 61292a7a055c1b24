import { digits, digitsAt, four } from './digits';
import { decimalAt } from './long-decimals';
import { moveTo, position, put, room } from './output';

/*
 * The shortest decimal that is parsed as a given double and no other; of several, the one nearest to it. This is the
 * algorithm Schubfach (Raffaello Giulietti, "The Schubfach way to render doubles"): a double lies between two
 * neighbours, and of the decimals of a well-chosen size at most four can lie closer to the double than to its
 * neighbours.
 */

const FRACTION_BITS = 52;
const FRACTION: u64 = (1 << FRACTION_BITS) - 1;
const HIDDEN: u64 = 1 << FRACTION_BITS;
const EXPONENT: u64 = 0x7ff;
const BIAS = 1075;

/** The range of powers of ten, and the size of each in bytes: 128 bits, upper half first. */
const LEAST_POWER = -292;
const GREATEST_POWER = 324;
const POWER_BYTES = 16;

/** The address at which the host stores the powers of ten (`powersOfTen` in `writer.ts`). */
export const POWERS: usize = memory.data((GREATEST_POWER - LEAST_POWER + 1) * POWER_BYTES, 16);

/** The exponent of the decimal that {@link shortest} found last: its value is the digits times this power of ten. */
export let shortestExponent: i32 = 0;

/**
 * Finds the decimal of a positive finite double. Returns its digits as an integer of 16 or 17 digits, with trailing zeros if
 * there are fewer. The smallest doubles have fewer digits.
 */
export function shortest(value: f64): u64 {
  const bits = reinterpret<u64>(value);
  const fraction = bits & FRACTION;
  const biased = ((bits >> FRACTION_BITS) & EXPONENT) as i32;
  const isSubnormal = biased === 0;
  const significand = isSubnormal ? fraction : fraction | HIDDEN;
  const exponent = (isSubnormal ? 1 : biased) - BIAS;
  return find(significand, exponent, fraction === 0 && biased > 1);
}

/**
 * `isLowerCloser`: the neighbour below is half as far away as the one above. The exact value and the bounds are in
 * quarters of the last digit.
 */
function find(significand: u64, exponent: i32, isLowerCloser: bool): u64 {
  const size = floorLog10Pow2(exponent, isLowerCloser);
  shortestExponent = size;
  const shift = exponent + floorLog2Pow10(-size) + 1;
  const power = POWERS + ((-size - LEAST_POWER) as usize) * POWER_BYTES;
  const high = load<u64>(power);
  const low = load<u64>(power, 8);
  const factor = (significand << 2) << shift;
  const carried = upperHalf(low, factor);
  const bottom = low * factor;
  const middle = high * factor + carried;
  const top = upperHalf(high, factor) + ((middle < carried) as u64);
  const exact = rounded(top, middle);
  const odd = significand & 1;
  const lower = below(top, middle, bottom, high, low, shift + (isLowerCloser ? 0 : 1)) + odd;
  const upper = above(top, middle, bottom, high, low, shift + 1) - odd;

  const digits = exact >> 2;
  const tens = 10 * (digits / 10);
  const isTenDown = lower <= 4 * tens;
  const isTenUp = 4 * tens + 40 <= upper;
  const isDownWithin = lower <= 4 * digits;
  const isUpWithin = 4 * digits + 4 <= upper;
  const isUpNearer = exact + (digits & 1) > 4 * digits + 2;
  const isUp = isDownWithin !== isUpWithin ? isUpWithin : isUpNearer;
  const near = digits + (isUp as u64);
  return digits >= 10 && isTenDown !== isTenUp ? tens + 10 * (isTenUp as u64) : near;
}

/** The greatest `n` with 10^n at most 2^exponent, or at most three quarters of it if the neighbour below is closer. */
function floorLog10Pow2(exponent: i32, isLowerCloser: bool): i32 {
  return (exponent * 1_262_611 - (isLowerCloser ? 524_031 : 0)) >> 22;
}

/** The greatest `n` with 2^n at most 10^exponent. */
function floorLog2Pow10(exponent: i32): i32 {
  return (exponent * 1_741_647) >> 19;
}

/** Subtracts a shifted power of ten of 128 bits from 192 bits, and rounds the result. */
function below(top: u64, middle: u64, bottom: u64, high: u64, low: u64, shift: i32): u64 {
  const bottomPart = low << shift;
  const middlePart = (high << shift) | (low >> (64 - shift));
  const topPart = high >> (64 - shift);
  const borrow = (bottom < bottomPart) as u64;
  const less = middle - middlePart;
  const nextBorrow = ((middle < middlePart) as u64) | ((less < borrow) as u64);
  return rounded(top - topPart - nextBorrow, less - borrow);
}

/** Adds a shifted power of ten of 128 bits to 192 bits, and rounds the result. */
function above(top: u64, middle: u64, bottom: u64, high: u64, low: u64, shift: i32): u64 {
  const bottomPart = low << shift;
  const middlePart = (high << shift) | (low >> (64 - shift));
  const topPart = high >> (64 - shift);
  const carry = (bottom + bottomPart < bottomPart) as u64;
  const more = middle + middlePart;
  const sum = more + carry;
  const nextCarry = ((more < middlePart) as u64) | ((sum < carry) as u64);
  return rounded(top + topPart + nextCarry, sum);
}

/** The upper 64 bits. Their last bit is also set if more was cut off than the rounding of the power of ten may add. */
function rounded(top: u64, middle: u64): u64 {
  return top | ((middle > 1) as u64);
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

const MINUS = 0x2d;
const POINT = 0x2e;
const QUOTE = 0x22;
const NULL: u32 = 0x6c6c_756e;
const ZERO = 0x30;
const FOUR_ZEROS: u32 = 0x3030_3030;
const LONGEST = 40;

const FIRST_INEXACT: f64 = 9007199254740992;
/** Numbers with at most four decimals, as most prices and measures, are written faster than others. */
const TEN_THOUSAND: f64 = 10_000;
/** No two decimals of 15 digits are parsed as the same double. */
const FIRST_AMBIGUOUS: f64 = 1e15;

export function integer(value: i64): void {
  room(LONGEST);
  if (value < 0) put(MINUS);
  const size: u64 = value < 0 ? 0 - value : value;
  if (size < 10) put(ZERO + (size as u32));
  else digits(size);
}

export function quotedInteger(value: u64): void {
  room(LONGEST);
  put(QUOTE);
  digits(value);
  put(QUOTE);
}

/** Writes a double as JavaScript does: the shortest decimal that is parsed as the same double. */
export function double(value: f64): void {
  room(LONGEST);
  moveTo(doubleAt(position, value));
}

/** Stores a double like {@link double}, in less than 40 bytes. Returns the end of its text. */
export function doubleAt(at: usize, value: f64): usize {
  if (!isFinite(value)) {
    store<u32>(at, NULL);
    return at + 4;
  }
  store<u8>(at, MINUS);
  at += (value < 0) as usize;
  const size = abs(value);
  const whole = trunc(size);
  if (size === whole && size < FIRST_INEXACT) return digitsAt(at, size as u64);
  const scaled = nearest(size * TEN_THOUSAND);
  if (scaled < FIRST_AMBIGUOUS && scaled / TEN_THOUSAND === size)
    return shortDecimalAt(at, whole as u64, (scaled - whole * TEN_THOUSAND) as u32);
  return decimalAt(at, shortest(size), shortestExponent);
}

/** Stores a number with up to four decimals. */
function shortDecimalAt(at: usize, whole: u64, fraction: u32): usize {
  const point = digitsAt(at, whole);
  const decimals = four(fraction);
  store<u8>(point, POINT);
  store<u32>(point, decimals | FOUR_ZEROS, 1);
  return point + 5 - (clz(decimals) >> 3);
}
