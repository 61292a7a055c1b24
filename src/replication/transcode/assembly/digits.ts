import { moveTo, position, put } from './output';

const ZERO = 0x30;
const ZEROS: u64 = 0x3030_3030_3030_3030;
const HUNDRED_MILLION: u64 = 100_000_000;

/** Writes all digits of a number. The caller must have made room for the digits and seven more bytes. */
export function digits(value: u64): void {
  moveTo(digitsAt(position, value));
}

/** Stores all digits of a number, and up to seven more bytes. Returns the end of the digits. */
export function digitsAt(at: usize, value: u64): usize {
  if (value < 10) {
    store<u8>(at, ZERO + (value as u32));
    return at + 1;
  }
  if (value < HUNDRED_MILLION) return leading(at, value as u32);
  const rest = value / HUNDRED_MILLION;
  const end = digitsAt(at, rest);
  store<u64>(end, eight((value - rest * HUNDRED_MILLION) as u32) | ZEROS);
  return end + 8;
}

/** Writes the last `count` digits of a number, at most nine. The caller must have made room for eight more bytes. */
export function fixedDigits(value: u32, count: u32): void {
  const above = value / (HUNDRED_MILLION as u32);
  if (count === 9) {
    put(ZERO + above);
    count = 8;
  }
  const last = eight(value - above * (HUNDRED_MILLION as u32)) | ZEROS;
  store<u64>(position, last >> (64 - 8 * count));
  moveTo(position + count);
}

/** The digits of a number below 10^4, as the bytes of a text, each from 0 to 9. */
export function four(value: u32): u32 {
  const hundreds = value / 100;
  const pairs = hundreds | ((value - hundreds * 100) << 16);
  const tens = ((pairs * 103) >> 10) & 0x000f_000f;
  return tens | ((pairs - tens * 10) << 8);
}

/** The digits of a number below 10^16, as the bytes of a text, each from 0 to 9; given as two numbers below 10^8. */
export function sixteen(high: u32, low: u32): v128 {
  const fours = i64x2.replace_lane(i64x2.splat(inFours(high)), 1, inFours(low));
  const hundreds = i32x4.shr_u(i32x4.dot_i16x8_s(fours, i32x4.splat(5243)), 19);
  const rest = i32x4.sub(fours, i16x8.mul(hundreds, i32x4.splat(100)));
  const pairs = v128.or(hundreds, i32x4.shl(rest, 16));
  const tens = i16x8.shr_u(i16x8.mul(pairs, i16x8.splat(103)), 10);
  const ones = i16x8.sub(pairs, i16x8.mul(tens, i16x8.splat(10)));
  return v128.or(tens, i16x8.shl(ones, 8));
}

/**
 * The digits of a number below 10^8, like those of {@link four}. All are computed at once, each in its own part of one
 * number.
 */
function eight(value: u32): u64 {
  const fours = inFours(value);
  const hundreds = ((fours * 10_486) >> 20) & 0x7f_0000_007f;
  const pairs = hundreds | ((fours - hundreds * 100) << 16);
  const tens = ((pairs * 103) >> 10) & 0x000f_000f_000f_000f;
  return tens | ((pairs - tens * 10) << 8);
}

/** The first four digits in the lower half, the last four in the upper one. */
function inFours(value: u32): u64 {
  const first = value / 10_000;
  return (first as u64) | (((value - first * 10_000) as u64) << 32);
}

function leading(at: usize, value: u32): usize {
  const all = eight(value);
  const unused = ctz(all) & ~7;
  store<u64>(at, (all | ZEROS) >> unused);
  return at + 8 - ((unused >> 3) as usize);
}
