import { NULL, write } from './literals';
import { moveTo, position, put, room } from './output';

const MINUS = 0x2d;
const POINT = 0x2e;
const QUOTE = 0x22;
const ZERO = 0x30;
const LONGEST = 24;

const BILLION: u64 = 1_000_000_000;
const FIRST_INEXACT: f64 = 9007199254740992;
const MOST_DECIMALS = 6;
/** The first whole number of more than 15 digits. */
const TOO_LONG: f64 = 1e15;

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

/** Writes a double as JavaScript does, where that is simple; false, and nothing written, where it is not. */
export function double(value: f64): bool {
  if (!isFinite(value)) {
    write(NULL);
    return true;
  }
  if (abs(value) >= FIRST_INEXACT) return false;
  if (value !== trunc(value)) return fraction(value);
  integer(value as i64);
  return true;
}

/**
 * A double is shown with the fewest digits that are read as the same double. Of all numbers of at most 15 digits no two
 * are read as the same one, so the first number of so many digits that is read as `value` is that text. Dividing two
 * whole numbers that a double holds exactly rounds once, as reading the text does.
 */
function fraction(value: f64): bool {
  const magnitude = abs(value);
  let scale: f64 = 1;
  for (let decimals = 1; decimals <= MOST_DECIMALS; decimals++) {
    scale *= 10;
    const scaled = nearest(magnitude * scale);
    if (scaled >= TOO_LONG) return false;
    if (scaled / scale !== magnitude) continue;
    room(LONGEST);
    if (value < 0) put(MINUS);
    const whole = (scaled as u64) / (scale as u64);
    digits(whole);
    put(POINT);
    fixedDigits(((scaled as u64) - whole * (scale as u64)) as u32, decimals);
    return true;
  }
  return false;
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
