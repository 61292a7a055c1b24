import { quotedBinary } from './base64';
import * as bson from './bson';
import { isWritable, quotedDate } from './dates';
import { quotedDecimal } from './decimals';
import { malformed, rare, RARE_ROOM } from './host';
import { comma, moveTo, position, put, room } from './output';
import { FALSE, isKey, NULL, PASSWORDHASH, TRUE, write } from './literals';
import { double, integer, quotedInteger } from './numbers';
import { quotedHex, quotedKey, quotedString } from './text';

const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const OPEN_DOCUMENT = 0x7b;
const CLOSE_DOCUMENT = 0x7d;

/** MongoDB itself nests no deeper than 180. */
export const DEEPEST: u32 = 256;

/** Writes the value in `[at, end)`, as `valueEnd` found it, as JSON (contract §4). */
export function value(type: u32, at: usize, end: usize, depth: u32): void {
  switch (type) {
    case bson.STRING:
    case bson.CODE:
    case bson.SYMBOL:
      return quotedString(at, end);
    case bson.DOCUMENT:
      return document(at, end, depth, false);
    case bson.ARRAY:
      return list(at, end, depth);
    case bson.INT32:
      return integer(load<i32>(at));
    case bson.INT64:
      return integer(load<i64>(at));
    case bson.DOUBLE:
      return double(load<f64>(at));
    case bson.BOOLEAN:
      return write(load<u8>(at) === 0 ? FALSE : TRUE);
    case bson.DATE:
      if (isWritable(load<i64>(at))) quotedDate(load<i64>(at));
      else rareValue(type, at, end);
      return;
    case bson.DECIMAL128:
      if (!quotedDecimal(load<u64>(at), load<u64>(at, 8))) rareValue(type, at, end);
      return;
    case bson.OBJECT_ID:
      return quotedHex(at, 12);
    case bson.BINARY:
      return quotedBinary(at, end);
    case bson.TIMESTAMP:
      return quotedInteger(load<u64>(at));
    case bson.NULL_VALUE:
    case bson.UNDEFINED:
    case bson.MIN_KEY:
    case bson.MAX_KEY:
      return write(NULL);
    default:
      return rareValue(type, at, end);
  }
}

/** Writes a document with its keys in stored order, without the password hash if `hidesHash` is set. */
export function document(at: usize, end: usize, depth: u32, hidesHash: bool): void {
  if (depth > DEEPEST) malformed();
  const last = end - 1;
  let isFirst = true;
  room(1);
  put(OPEN_DOCUMENT);
  for (at += 4; at < last;) {
    const type = load<u8>(at);
    if (hidesHash && isKey(at + 1, PASSWORDHASH)) {
      at = bson.valueEnd(type, bson.textEnd(at + 1, last) + 1, last);
      continue;
    }
    const start = quotedKey(at + 1, last, isFirst) + 1;
    isFirst = false;
    at = bson.valueEnd(type, start, last);
    value(type, start, at, depth + 1);
  }
  room(1);
  put(CLOSE_DOCUMENT);
}

/**
 * Writes a list. Its keys are numbers, most with as many digits as the previous key. Doubles have a fast path, since
 * the longest lists consist of them.
 */
function list(at: usize, end: usize, depth: u32): void {
  if (depth > DEEPEST) malformed();
  const last = end - 1;
  room(1);
  put(OPEN_LIST);
  const first = at + 4;
  let keySize: usize = 1;
  for (at = first; at < last;) {
    const type = load<u8>(at);
    const start = bson.likelyEnd(at + 1, keySize, last) + 1;
    keySize = start - at - 2;
    if (at !== first) comma();
    if (type === bson.DOUBLE) {
      if (last - start < 8) malformed();
      double(load<f64>(start));
      at = start + 8;
    } else {
      at = bson.valueEnd(type, start, last);
      value(type, start, at, depth + 1);
    }
  }
  room(1);
  put(CLOSE_LIST);
}

/** Writes only the texts of a list. */
export function listOfTexts(at: usize, end: usize): void {
  const last = end - 1;
  let isFirst = true;
  room(1);
  put(OPEN_LIST);
  for (at += 4; at < last;) {
    const type = load<u8>(at);
    const keyEnd = bson.textEnd(at + 1, last);
    const next = bson.valueEnd(type, keyEnd + 1, last);
    if (isText(type)) {
      if (!isFirst) comma();
      isFirst = false;
      quotedString(keyEnd + 1, next);
    }
    at = next;
  }
  room(1);
  put(CLOSE_LIST);
}

/** Writes a single text as a list. */
export function listOfOne(at: usize, end: usize): void {
  room(1);
  put(OPEN_LIST);
  quotedString(at, end);
  room(1);
  put(CLOSE_LIST);
}

/** Some languages once stored texts as symbols. */
export function isText(type: u32): bool {
  return type === bson.STRING || type === bson.SYMBOL;
}

function rareValue(type: u32, at: usize, end: usize): void {
  room(RARE_ROOM);
  moveTo(rare(type, at, end, position));
}
