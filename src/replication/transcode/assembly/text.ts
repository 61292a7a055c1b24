import { textEnd } from './bson';
import { colon, comma, moveTo, position, put, room } from './output';

const LANES = i8x16(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);

/**
 * Whether the text in `[at, end)`, which does not begin within a sequence, is UTF-8. Sixteen bytes are checked at a time,
 * each against the three bytes before it. A byte must be a continuation exactly if one of these requires it. Overlong
 * sequences, surrogates and code points beyond U+10FFFF are rejected. Bytes after the text count as zeros, so no sequence
 * may extend beyond it.
 */
export function isWellFormed(at: usize, end: usize): bool {
  let before = all(0);
  let wrong = before;
  for (; at <= end; at += 16) {
    const within = i8x16.lt_u(LANES, all(min<usize>(end - at, 16) as u32));
    const bytes = v128.and(v128.load(at), within);
    wrong = v128.or(wrong, wrongBytes(before, bytes));
    before = bytes;
  }
  return !v128.any_true(wrong);
}

function wrongBytes(before: v128, bytes: v128): v128 {
  const first = i8x16.shuffle(before, bytes, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30);
  const second = i8x16.shuffle(before, bytes, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29);
  const third = i8x16.shuffle(before, bytes, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28);
  const asked = v128.or(
    i8x16.ge_u(first, all(0xc0)),
    v128.or(i8x16.ge_u(second, all(0xe0)), i8x16.ge_u(third, all(0xf0))),
  );
  const continues = i8x16.lt_s(bytes, all(0xc0));
  return v128.or(v128.xor(asked, continues), v128.or(wrongLeads(bytes), wrongSeconds(first, bytes)));
}

/** Lead bytes of overlong sequences, or of sequences beyond U+10FFFF. */
function wrongLeads(bytes: v128): v128 {
  const tooLong = i8x16.eq(v128.and(bytes, all(0xfe)), all(0xc0));
  return v128.or(tooLong, i8x16.gt_u(bytes, all(0xf4)));
}

/** Continuation bytes that {@link canFollow} rejects. */
function wrongSeconds(lead: v128, bytes: v128): v128 {
  const tooLong = v128.or(
    v128.and(i8x16.eq(lead, all(0xe0)), i8x16.lt_u(bytes, all(0xa0))),
    v128.and(i8x16.eq(lead, all(0xf0)), i8x16.lt_u(bytes, all(0x90))),
  );
  const surrogate = v128.and(i8x16.eq(lead, all(0xed)), i8x16.gt_u(bytes, all(0x9f)));
  const beyond = v128.and(i8x16.eq(lead, all(0xf4)), i8x16.gt_u(bytes, all(0x8f)));
  return v128.or(tooLong, v128.or(surrogate, beyond));
}

function all(byte: u32): v128 {
  return i8x16.splat(byte as i8);
}

/**
 * The length of the well-formed sequence of two to four bytes that begins at `at`. Otherwise a negative number: how many
 * bytes decoders replace by one U+FFFD (WHATWG Encoding: the longest beginning of a well-formed sequence). A zero follows
 * every BSON text, so no sequence extends past its end.
 */
export function sequence(at: usize): i32 {
  const lead = load<u8>(at);
  if (lead < 0xc2 || lead > 0xf4) return -1;
  if (!canFollow(lead, load<u8>(at, 1))) return -1;
  if (lead < 0xe0) return 2;
  if (!isContinuation(load<u8>(at, 2))) return -2;
  if (lead < 0xf0) return 3;
  if (!isContinuation(load<u8>(at, 3))) return -3;
  return 4;
}

/** Excludes overlong sequences, surrogates, and sequences beyond U+10FFFF. */
function canFollow(lead: u8, byte: u8): bool {
  const least: u8 = lead === 0xe0 ? 0xa0 : lead === 0xf0 ? 0x90 : 0x80;
  const greatest: u8 = lead === 0xed ? 0x9f : lead === 0xf4 ? 0x8f : 0xbf;
  return byte >= least && byte <= greatest;
}

function isContinuation(byte: u8): bool {
  return (byte & 0xc0) === 0x80;
}

const QUOTE: u8 = 0x22;
const BACKSLASH: u8 = 0x5c;
const COMMA_AND_QUOTE: u16 = 0x222c;
const QUOTE_AND_COLON: u16 = 0x3a22;
const HEX = i8x16(48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 97, 98, 99, 100, 101, 102);

/** Bytes of text for which room is made at a time. */
const SLICE: usize = 4096;
/** The greatest number of bytes that one byte becomes. */
const LONGEST_ESCAPE: usize = 6;

/** Masks over the bytes of a vector: whether copying stops at each byte beyond ASCII, or at none. */
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
