import { moveTo, position, room } from './output';

const QUOTE = 0x22;
const ZERO = 0x30;
const TWO_ZEROS: u32 = 0x3030;
const DASH = 0x2d;
const POINT = 0x2e;
const COLON = 0x3a;
const LETTER_T = 0x54;
const LETTER_Z = 0x5a;
const LONGEST = 32;

/** Milliseconds of 0000-01-01T00:00:00.000Z and 9999-12-31T23:59:59.999Z. */
const EARLIEST: i64 = -62167219200000;
const LATEST: i64 = 253402300799999;

const MS_PER_DAY: u64 = 86_400_000;
const DAYS_OF_400_YEARS: u32 = 146_097;
/** From January to March of a leap year, such as the year 0. */
const DAYS_BEFORE_MARCH: u32 = 60;

/** The last day written, and its text from the first quote to the T: successive dates often fall on the same day. */
let lastDay: u32 = u32.MAX_VALUE;
const lastText = memory.data(16, 16);
const DAY_LENGTH: usize = 12;
const TIME_LENGTH: usize = 14;

/** Whether a date has four digits for the year (contract §1). */
export function isWritable(milliseconds: i64): bool {
  return milliseconds >= EARLIEST && milliseconds <= LATEST;
}

/** Writes a date for which {@link isWritable} is true as a JSON string. */
export function quotedDate(milliseconds: i64): void {
  const sinceEarliest: u64 = milliseconds - EARLIEST;
  const day = (sinceEarliest / MS_PER_DAY) as u32;
  if (day !== lastDay) remember(day);
  room(LONGEST);
  v128.store(position, v128.load(lastText));
  timeAndQuote(position + DAY_LENGTH, (sinceEarliest - day * MS_PER_DAY) as u32);
  moveTo(position + DAY_LENGTH + TIME_LENGTH);
}

function timeAndQuote(at: usize, milliseconds: u32): void {
  const seconds = milliseconds / 1000;
  const minutes = seconds / 60;
  const hours = minutes / 60;
  const rest = milliseconds - seconds * 1000;
  store<u16>(at, twoDigits(hours));
  store<u8>(at, COLON, 2);
  store<u16>(at, twoDigits(minutes - hours * 60), 3);
  store<u8>(at, COLON, 5);
  store<u16>(at, twoDigits(seconds - minutes * 60), 6);
  store<u8>(at, POINT, 8);
  store<u8>(at, ZERO + rest / 100, 9);
  store<u16>(at, twoDigits(rest % 100), 10);
  store<u8>(at, LETTER_Z, 12);
  store<u8>(at, QUOTE, 13);
}

/**
 * Formats a day. The Gregorian calendar repeats after 400 years, which are counted from 1 March, so that leap days come
 * last.
 */
function remember(day: u32): void {
  const shifted = day + DAYS_OF_400_YEARS - DAYS_BEFORE_MARCH;
  const era = shifted / DAYS_OF_400_YEARS;
  const dayOfEra = shifted % DAYS_OF_400_YEARS;
  const yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365;
  const dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100);
  const monthFromMarch = (5 * dayOfYear + 2) / 153;
  const isNextYear = monthFromMarch >= 10;
  const year = 400 * (era - 1) + yearOfEra + (isNextYear ? 1 : 0);
  store<u8>(lastText, QUOTE);
  store<u16>(lastText, twoDigits(year / 100), 1);
  store<u16>(lastText, twoDigits(year % 100), 3);
  store<u8>(lastText, DASH, 5);
  store<u16>(lastText, twoDigits(isNextYear ? monthFromMarch - 9 : monthFromMarch + 3), 6);
  store<u8>(lastText, DASH, 8);
  store<u16>(lastText, twoDigits(dayOfYear - (153 * monthFromMarch + 2) / 5 + 1), 9);
  store<u8>(lastText, LETTER_T, 11);
  lastDay = day;
}

function twoDigits(number: u32): u16 {
  const tens = number / 10;
  return (TWO_ZEROS + tens + ((number - tens * 10) << 8)) as u16;
}
