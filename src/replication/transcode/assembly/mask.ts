import * as bson from './bson';
import { hashed, HASH_ROOM, malformed } from './host';
import { comma, moveTo, position, put, room } from './output';
import { DEEPEST, value } from './json';
import { isKey, NULL, PASSWORDHASH, write } from './literals';
import { quotedKey } from './text';

/*
 * The fields that a service shows, as `field-mask.ts` writes them: the treatment of `createdBy`, of `channels` and of
 * `data`. A treatment is one of the constants below, or the offset of a branch from the beginning of the mask.
 * A branch has the treatment of the fields that are not named, the greatest slot of a table, and the table: offsets of
 * names, or 0. A name has its treatment, its length and its bytes.
 */
export const SHOW: u32 = 0;
export const HIDE: u32 = 1;
export const HASH: u32 = 2;

const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const OPEN_DOCUMENT = 0x7b;
const CLOSE_DOCUMENT = 0x7d;

/** The address of the mask; 0 if everything is shown. */
let mask: usize = 0;

export function showBy(start: usize): void {
  mask = start;
}

export function isMasked(): bool {
  return mask !== 0;
}

export function ofCreatedBy(): u32 {
  return mask === 0 ? SHOW : load<u32>(mask);
}

export function ofChannels(): u32 {
  return mask === 0 ? SHOW : load<u32>(mask, 4);
}

/** Writes the fields that are shown of the `data` of a record. */
export function data(at: usize, end: usize, hidesHash: bool): void {
  document(at, end, 1, mask + load<u32>(mask, 8), hidesHash);
}

/** Writes the keyed hash of a value, which the host computes. */
export function hash(type: u32, at: usize, end: usize): void {
  room(HASH_ROOM);
  moveTo(hashed(type, at, end, position));
}

function document(at: usize, end: usize, depth: u32, branch: usize, hidesHash: bool): void {
  if (depth > DEEPEST) malformed();
  const last = end - 1;
  let isFirst = true;
  room(1);
  put(OPEN_DOCUMENT);
  for (at += 4; at < last;) {
    const type = load<u8>(at);
    const key = at + 1;
    const keyEnd = bson.textEnd(key, last);
    const next = bson.valueEnd(type, keyEnd + 1, last);
    const treatment = hidesHash && isKey(key, PASSWORDHASH) ? HIDE : ofName(branch, key, keyEnd);
    if (isShown(treatment, type)) {
      const start = quotedKey(key, last, isFirst) + 1;
      isFirst = false;
      treated(treatment, type, start, next, depth + 1);
    }
    at = next;
  }
  room(1);
  put(CLOSE_DOCUMENT);
}

/** Writes a list with null in place of each element that is not shown, so that it keeps its length. */
function list(at: usize, end: usize, depth: u32, treatment: u32): void {
  if (depth > DEEPEST) malformed();
  const last = end - 1;
  const first = at + 4;
  room(1);
  put(OPEN_LIST);
  for (at = first; at < last;) {
    const type = load<u8>(at);
    const start = bson.textEnd(at + 1, last) + 1;
    if (at !== first) comma();
    at = bson.valueEnd(type, start, last);
    if (isShown(treatment, type)) treated(treatment, type, start, at, depth + 1);
    else write(NULL);
  }
  room(1);
  put(CLOSE_LIST);
}

/** A value that cannot have fields is shown if the branch shows the fields that it does not name. */
function isShown(treatment: u32, type: u32): bool {
  if (treatment === HIDE) return false;
  if (treatment === SHOW || treatment === HASH) return true;
  return type === bson.DOCUMENT || type === bson.ARRAY || load<u32>(mask + treatment) === SHOW;
}

function treated(treatment: u32, type: u32, at: usize, end: usize, depth: u32): void {
  if (treatment === HASH) hash(type, at, end);
  else if (treatment === SHOW) value(type, at, end, depth);
  else if (type === bson.DOCUMENT) document(at, end, depth, mask + treatment, false);
  else if (type === bson.ARRAY) list(at, end, depth, treatment);
  else value(type, at, end, depth);
}

/** The treatment of a field by its name, found in the table of the branch as `field-mask.ts` places it. */
function ofName(branch: usize, key: usize, keyEnd: usize): u32 {
  const length = (keyEnd - key) as u32;
  const most = load<u32>(branch, 4);
  const middle = load<u8>(key + (length >> 1));
  const last = length === 0 ? 0 : (load<u8>(keyEnd - 1) as u32);
  let slot = (length + 7 * load<u8>(key) + 31 * middle + 127 * last) & most;
  let place = load<u32>(branch + 8 + ((slot as usize) << 2));
  while (place !== 0) {
    const name = mask + place;
    if (load<u32>(name, 4) === length && memory.compare(name + 8, key, length) === 0) return load<u32>(name);
    slot = (slot + 1) & most;
    place = load<u32>(branch + 8 + ((slot as usize) << 2));
  }
  return load<u32>(branch);
}
