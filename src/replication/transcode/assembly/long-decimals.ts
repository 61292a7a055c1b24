import { digitsAt, sixteen } from './digits';

const MINUS = 0x2d;
const PLUS = 0x2b;
const POINT = 0x2e;
const EXPONENT = 0x65;
const ZERO: u8 = 0x30;
const ZERO_POINT_ZEROS: u64 = 0x3030_3030_3030_2e30;
const ZEROS: u64 = 0x3030_3030_3030_3030;

const HUNDRED_MILLION: u32 = 100_000_000;
const LEAST_OF_SIXTEEN: u64 = 1_000_000_000_000_000;

/** With more digits before the point, or this many zeros right after it, a number is written with an exponent. */
const MOST_WHOLE = 21;
const MOST_ZEROS = 6;

/** Loading a vector n bytes before the middle yields one with its first n bytes set. */
const SET_BEFORE = memory.data<u8>([
  255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 0, 0, 0, 0, 0, 0, 0, 0, 0,
  0, 0, 0, 0, 0, 0, 0,
]);

/** Stores a number of at most 17 digits times a power of ten, without trailing zeros. Returns the end of its text. */
export function decimalAt(at: usize, value: u64, exponent: i32): usize {
  for (; value < LEAST_OF_SIXTEEN; value *= 10) exponent -= 1;
  const upper = (value / HUNDRED_MILLION) as u32;
  const first = upper / HUNDRED_MILLION;
  const rest = sixteen(upper - first * HUNDRED_MILLION, (value - (upper as u64) * HUNDRED_MILLION) as u32);
  const before = (first !== 0) as i32;
  const count = before + 32 - (clz(i8x16.bitmask(i8x16.gt_s(rest, i8x16.splat(0)))) as i32);
  const point = before + 16 + exponent;
  const text = v128.or(rest, i8x16.splat(ZERO));
  if (point > MOST_WHOLE || point <= -MOST_ZEROS) return exponentialAt(at, first, text, count, point - 1);
  if (point <= 0) return fractionAt(at, first, text, count, point);
  pointed(at, first, text, point);
  return at + (max<i32>(point, count > point ? count + 1 : 0) as usize);
}

/** Stores the number with one digit before the point, and an exponent. */
function exponentialAt(at: usize, first: u32, rest: v128, count: i32, exponent: i32): usize {
  pointed(at, first, rest, 1);
  at += ((count > 1) as usize) + (count as usize);
  store<u8>(at, EXPONENT);
  store<u8>(at, exponent < 0 ? MINUS : PLUS, 1);
  return digitsAt(at + 2, abs(exponent));
}

/** Stores the number with all digits after the point. */
function fractionAt(at: usize, first: u32, rest: v128, count: i32, point: i32): usize {
  store<u64>(at, ZERO_POINT_ZEROS);
  at += 2 - point;
  store<u8>(at, ZERO + (first as u8));
  v128.store(at + ((first !== 0) as usize), rest);
  return at + (count as usize);
}

/**
 * Stores the first digit unless it is 0, sixteen more digits, and a point after the first `before` digits. If there are
 * fewer digits than that, zeros follow in place of the point.
 */
function pointed(at: usize, first: u32, rest: v128, before: i32): void {
  store<u8>(at, ZERO + (first as u8));
  const start = at + ((first !== 0) as usize);
  const place = (before as usize) - ((first !== 0) as usize);
  if (place > 16) {
    v128.store(start, rest);
    store<u64>(start, ZEROS, 16);
    return;
  }
  const shifted = i8x16.shuffle(rest, rest, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14);
  const isBefore = v128.load(SET_BEFORE + 16 - place);
  v128.store(start, v128.bitselect(rest, shifted, isBefore));
  store<u8>(start, i8x16.extract_lane_u(rest, 15), 16);
  store<u8>(start + place, POINT);
}
