import { textEnd } from './bson';
import { colon, comma, moveTo, position, put, room } from './output';
import { isWellFormed, sequence } from './utf8';

const QUOTE: u8 = 0x22;
const BACKSLASH: u8 = 0x5c;
const COMMA_AND_QUOTE: u16 = 0x222c;
const QUOTE_AND_COLON: u16 = 0x3a22;
const HEX = i8x16(48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 97, 98, 99, 100, 101, 102);

/** Bytes of text for which room is made at a time. */
const SLICE: usize = 4096;
/** The greatest number of bytes that one byte becomes. */
const LONGEST_ESCAPE: usize = 6;

/** The bytes beyond ASCII at which copying stops, as a mask over the bytes of a vector. */
const EACH: i32 = 0xffff;
const NONE: i32 = 0;

/** The escape letters of the control characters that have one: \b \t \n \f \r. */
const LETTERS = memory.data<u8>([
  0, 0, 0, 0, 0, 0, 0, 0, 0x62, 0x74, 0x6e, 0, 0x66, 0x72, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
  0,
]);

/**
 * Writes the key at `at`, which ends with a zero before `end`, as a JSON string. A comma precedes it, unless it is the first
 * key, and a colon follows it. Returns the position of the zero.
 */
export function quotedKey(at: usize, end: usize, isFirst: bool): usize {
  const bytes = v128.load(at);
  const plain = plainBytes(bytes, EACH);
  const zero = at + plain;
  if (zero < end && plain < 16 && load<u8>(zero) === 0) {
    room(32);
    const start = position + (isFirst ? 0 : 1);
    store<u16>(position, COMMA_AND_QUOTE);
    store<u8>(start, QUOTE);
    v128.store(start, bytes, 1);
    store<u16>(start + plain, QUOTE_AND_COLON, 1);
    moveTo(start + plain + 3);
    return zero;
  }
  const keyEnd = textEnd(at, end);
  if (!isFirst) comma();
  quoted(at, keyEnd);
  colon();
  return keyEnd;
}

/**
 * Writes UTF-8 in `[at, end)` as a JSON string. Invalid UTF-8 becomes U+FFFD. If a check of the whole text finds it
 * well-formed, its sequences are copied unchanged.
 */
export function quoted(at: usize, end: usize): void {
  if (end - at <= 16) {
    const bytes = v128.load(at);
    if (plainBytes(bytes, EACH) >= end - at) return quotedVector(bytes, end - at);
  }
  room(1);
  put(QUOTE);
  at = copied(at, end, EACH);
  if (at < end && isWellFormed(at, end)) at = copied(at, end, NONE);
  while (at < end) at = copied(repaired(at, end), end, EACH);
  room(1);
  put(QUOTE);
}

/** Writes a BSON string, which begins with its length and ends with a zero. */
export function quotedString(at: usize, end: usize): void {
  quoted(at + 4, end - 1);
}

/** Writes bytes, at most 16, as a JSON string of hexadecimal digits. */
export function quotedHex(at: usize, size: usize): void {
  room(2 * 16 + 2);
  put(QUOTE);
  const bytes = v128.load(at);
  const high = i8x16.swizzle(HEX, i8x16.shr_u(bytes, 4));
  const low = i8x16.swizzle(HEX, v128.and(bytes, i8x16.splat(0x0f)));
  const first = i8x16.shuffle(high, low, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
  const second = i8x16.shuffle(high, low, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
  v128.store(position, first);
  v128.store(position, second, 16);
  moveTo(position + 2 * size);
  put(QUOTE);
}

/** Writes the first bytes of a vector as a JSON string. None of them may need an escape. */
function quotedVector(bytes: v128, size: usize): void {
  room(32);
  const start = position;
  store<u8>(start, QUOTE);
  v128.store(start, bytes, 1);
  store<u8>(start + size, QUOTE, 1);
  moveTo(start + size + 2);
}

/** Copies and escapes the bytes before `end`, up to the first byte at which `stops` ends copying. */
function copied(at: usize, end: usize, stops: i32): usize {
  while (at < end) {
    const sliceEnd = min(at + SLICE, end);
    room(LONGEST_ESCAPE * (sliceEnd - at));
    at = plain(at, sliceEnd, stops);
    if (at === sliceEnd) continue;
    const byte = load<u8>(at);
    if (byte >= 0x80) break;
    escape(byte);
    at++;
  }
  return at;
}

function plain(at: usize, end: usize, stops: i32): usize {
  let out = position;
  let size: usize;
  do {
    const bytes = v128.load(at);
    v128.store(out, bytes);
    size = min<usize>(plainBytes(bytes, stops), end - at);
    out += size;
    at += size;
  } while (size === 16);
  moveTo(out);
  return at;
}

/** The number of bytes before the first one that must be escaped, or at which `stops` ends copying. */
function plainBytes(bytes: v128, stops: i32): usize {
  const control = i8x16.lt_u(bytes, i8x16.splat(0x20));
  const quote = i8x16.eq(bytes, i8x16.splat(QUOTE));
  const backslash = i8x16.eq(bytes, i8x16.splat(BACKSLASH));
  const escaped = i8x16.bitmask(v128.or(control, v128.or(quote, backslash)));
  return ctz(escaped | (i8x16.bitmask(bytes) & stops) | 0x1_0000);
}

function escape(character: u32): void {
  const letter = character < 0x20 ? load<u8>(LETTERS + character) : character;
  if (letter !== 0) {
    put(BACKSLASH);
    put(letter);
    return;
  }
  store<u32>(position, 0x3030_755c); // \u00
  const digits = i8x16.swizzle(HEX, i16x8.splat(((character >> 4) | ((character & 0x0f) << 8)) as i16));
  store<u16>(position, i16x8.extract_lane_u(digits, 0), 4);
  moveTo(position + LONGEST_ESCAPE);
}

/** Writes the sequences from `at` up to the next ASCII character. */
function repaired(at: usize, end: usize): usize {
  const sliceEnd = min(at + SLICE, end);
  room(LONGEST_ESCAPE * SLICE);
  do at += beyondAscii(at);
  while (at < sliceEnd && load<u8>(at) >= 0x80);
  return at;
}

function beyondAscii(at: usize): usize {
  const length = sequence(at);
  if (length < 0) {
    store<u32>(position, 0x00bd_bfef); // U+FFFD
    moveTo(position + 3);
    return -length;
  }
  store<u32>(position, load<u32>(at));
  moveTo(position + length);
  return length;
}
