import { digits, digitsAt, four } from './digits';
import { decimalAt } from './long-decimals';
import { moveTo, position, put, room } from './output';
import { shortest, shortestExponent } from './shortest';

const MINUS = 0x2d;
const POINT = 0x2e;
const QUOTE = 0x22;
const NULL: u32 = 0x6c6c_756e;
const ZERO = 0x30;
const FOUR_ZEROS: u32 = 0x3030_3030;
const LONGEST = 40;

const FIRST_INEXACT: f64 = 9007199254740992;
/** Prices and measures have few digits after the point. */
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
