import { digits, fixedDigits } from './digits';
import { put, room } from './output';

const QUOTE = 0x22;
const MINUS = 0x2d;
const POINT = 0x2e;
const LONGEST = 40;

/**
 * Fields of the upper half: the sign, the biased exponent, two bits that select the other form, more of the
 * coefficient.
 */
const SIGN: u64 = 1 << 63;
const EXPONENT_AT = 49;
const EXPONENT: u64 = 0x3fff;
const BIAS = 6176;
const OTHER_FORM: u64 = 3 << 61;
const MORE_COEFFICIENT: u64 = (1 << 49) - 1;

const MOST_DECIMALS = 9;
/**
 * A number is written with an exponent, and so not here, if its first digit other than 0 is more than this many places
 * after the point; for the number 0, its last digit counts.
 */
const MOST_ZEROS = 6;

/**
 * Writes a Decimal128, given as its lower and its upper half, as a JSON string if it looks like an amount: few digits,
 * few decimals. Otherwise returns false and writes nothing.
 */
export function quotedDecimal(low: u64, high: u64): bool {
  const decimals = BIAS - (((high >> EXPONENT_AT) & EXPONENT) as i32);
  const isPlain = (high & OTHER_FORM) !== OTHER_FORM && (high & MORE_COEFFICIENT) === 0;
  if (!isPlain || decimals < 0 || decimals > MOST_DECIMALS) return false;
  if (decimals > MOST_ZEROS && low < powerOfTen(decimals - MOST_ZEROS)) return false;
  const scale = powerOfTen(decimals);
  const whole = low / scale;
  room(LONGEST);
  put(QUOTE);
  if ((high & SIGN) !== 0) put(MINUS);
  digits(whole);
  if (decimals > 0) {
    put(POINT);
    fixedDigits((low - whole * scale) as u32, decimals);
  }
  put(QUOTE);
  return true;
}

function powerOfTen(exponent: i32): u64 {
  let power: u64 = 1;
  for (; exponent > 0; exponent--) power *= 10;
  return power;
}
