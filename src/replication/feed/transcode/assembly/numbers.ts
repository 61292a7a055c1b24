import { NULL, write } from './literals';
import { moveTo, position, put, room } from './output';
import { decimalDigits, decimalExponent, shortest } from './shortest';

const MINUS = 0x2d;
const PLUS = 0x2b;
const POINT = 0x2e;
const EXPONENT = 0x65;
const QUOTE = 0x22;
const ZERO = 0x30;
const LONGEST = 32;

const BILLION: u64 = 1_000_000_000;
const FIRST_INEXACT: f64 = 9007199254740992;
/** With more digits before the point, or as many zeros right behind it, a number is shown with an exponent. */
const MOST_WHOLE = 21;
const MOST_ZEROS = 6;

export function integer(value: i64): void {
  room(LONGEST);
  if (value < 0) put(MINUS);
  digits(value < 0 ? 0 - value : value);
}

export function quotedInteger(value: u64): void {
  room(LONGEST);
  put(QUOTE);
  digits(value);
  put(QUOTE);
}

/** Writes a double as JavaScript does: the shortest decimal that is read as the same double. */
export function double(value: f64): void {
  if (!isFinite(value)) return write(NULL);
  if (value === trunc(value) && abs(value) < FIRST_INEXACT) return integer(value as i64);
  room(LONGEST);
  if (value < 0) put(MINUS);
  shortest(abs(value));
  decimal(decimalDigits, decimalExponent);
}

/** Writes `value` times a power of ten, into room made before. */
function decimal(value: u64, exponent: i32): void {
  const start = position;
  digits(value);
  const count = (position - start) as i32;
  const point = count + exponent;
  if (point > MOST_WHOLE || point <= -MOST_ZEROS) return exponential(start, count, point - 1);
  if (exponent >= 0) return zeros(exponent);
  if (point > 0) return pointInto(start + point, count - point);
  memory.copy(start + 2 - point, start, count);
  moveTo(start);
  put(ZERO);
  put(POINT);
  zeros(-point);
  moveTo(position + count);
}

/** Of the digits at `start` the first stands before the point. */
function exponential(start: usize, count: i32, exponent: i32): void {
  if (count > 1) pointInto(start + 1, count - 1);
  put(EXPONENT);
  put(exponent < 0 ? MINUS : PLUS);
  digits(abs(exponent));
}

/** Puts a point in front of the last `count` digits, which begin at `at`. */
function pointInto(at: usize, count: i32): void {
  memory.copy(at + 1, at, count);
  store<u8>(at, POINT);
  moveTo(at + 1 + count);
}

function zeros(count: i32): void {
  for (; count > 0; count--) put(ZERO);
}

/** Writes all digits of a number, into room made before. */
export function digits(value: u64): void {
  let count = 1;
  if (value < BILLION) {
    for (let bound: u32 = 10; (value as u32) >= bound; bound *= 10) count++;
    return fixedDigits(value as u32, count);
  }
  const rest = value / BILLION;
  digits(rest);
  fixedDigits((value - rest * BILLION) as u32, 9);
}

/** Writes the last `count` digits of a number, into room made before. */
export function fixedDigits(value: u32, count: u32): void {
  const start = position;
  for (let at = start + count; at > start;) {
    const rest = value / 10;
    store<u8>(--at, ZERO + (value - rest * 10));
    value = rest;
  }
  moveTo(start + count);
}
