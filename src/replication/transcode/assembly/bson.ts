import { malformed } from './host';

/** Types of BSON values: the byte before the key. */
export const DOUBLE = 0x01;
export const STRING = 0x02;
export const DOCUMENT = 0x03;
export const ARRAY = 0x04;
export const BINARY = 0x05;
export const UNDEFINED = 0x06;
export const OBJECT_ID = 0x07;
export const BOOLEAN = 0x08;
export const DATE = 0x09;
export const NULL_VALUE = 0x0a;
export const REGEXP = 0x0b;
export const DB_POINTER = 0x0c;
export const CODE = 0x0d;
export const SYMBOL = 0x0e;
export const CODE_WITH_SCOPE = 0x0f;
export const INT32 = 0x10;
export const TIMESTAMP = 0x11;
export const INT64 = 0x12;
export const DECIMAL128 = 0x13;
export const MIN_KEY = 0xff;
export const MAX_KEY = 0x7f;

const SHORTEST_DOCUMENT: u32 = 5;

/**
 * The end of the value that begins at `at`. This is the only function that trusts stored lengths, and only those that stay
 * within `end`. A returned end guarantees that the length of a document, string or binary lies inside the value, and so
 * does the last zero of a document or string.
 */
export function valueEnd(type: u32, at: usize, end: usize): usize {
  switch (type) {
    case UNDEFINED:
    case NULL_VALUE:
    case MIN_KEY:
    case MAX_KEY:
      return at;
    case BOOLEAN:
      return after(1, at, end);
    case INT32:
      return after(4, at, end);
    case DOUBLE:
    case DATE:
    case TIMESTAMP:
    case INT64:
      return after(8, at, end);
    case OBJECT_ID:
      return after(12, at, end);
    case DECIMAL128:
      return after(16, at, end);
    case STRING:
    case CODE:
    case SYMBOL:
      return stringEnd(at, end);
    case DB_POINTER:
      return after(12, stringEnd(at, end), end);
    case DOCUMENT:
    case ARRAY:
      return documentEnd(at, end);
    case CODE_WITH_SCOPE:
      return after(max<u32>(lengthAt(at, end), SHORTEST_DOCUMENT), at, end);
    case BINARY:
      return after(lengthAt(at, end), after(5, at, end), end);
    case REGEXP:
      return textEnd(textEnd(at, end) + 1, end) + 1;
    default:
      malformed();
      return end;
  }
}

/** The position of the zero byte that ends a text, before `end`. */
export function textEnd(at: usize, end: usize): usize {
  const zero = i8x16.splat(0);
  for (; at < end; at += 16) {
    const zeros = i8x16.bitmask(i8x16.eq(v128.load(at), zero));
    if (zeros === 0) continue;
    at += ctz(zeros);
    break;
  }
  if (at >= end) malformed();
  return at;
}

/** Like {@link textEnd}, but faster if the text has the expected size. */
export function likelyEnd(at: usize, size: usize, end: usize): usize {
  const zeros = i8x16.bitmask(i8x16.eq(v128.load(at), i8x16.splat(0)));
  const place = 1 << (size as i32);
  const isRight = size < 16 && (zeros & (2 * place - 1)) === place;
  return isRight && at + size < end ? at + size : textEnd(at, end);
}

function stringEnd(at: usize, end: usize): usize {
  const length = lengthAt(at, end);
  if (length === 0) malformed();
  return closed(after(length, at + 4, end));
}

function documentEnd(at: usize, end: usize): usize {
  const length = lengthAt(at, end);
  if (length < SHORTEST_DOCUMENT) malformed();
  return closed(after(length, at, end));
}

function closed(next: usize): usize {
  if (load<u8>(next - 1) !== 0) malformed();
  return next;
}

/** A negative length is read as one that is far too great. */
function lengthAt(at: usize, end: usize): u32 {
  after(4, at, end);
  return load<u32>(at);
}

function after(size: u32, at: usize, end: usize): usize {
  if (at > end || size > ((end - at) as u32)) malformed();
  return at + size;
}
