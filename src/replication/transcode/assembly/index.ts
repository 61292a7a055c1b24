import { DOCUMENT, textEnd, valueEnd } from './bson';
import { malformed } from './host';
import { INPUT, OUTPUT, flushAll, moveTo, separator } from './output';
import { deleteChange, deleteItem, updateItem } from './item';
import { showBy } from './mask';
import * as record from './record';

export { OF_CHANNELS } from './host';
export { INPUT, OUTPUT, PADDING } from './output';
export { KIND } from './literals';
export { POWERS } from './numbers';

/** The shape of items, as bits. Without any of them: update items with `channels` only if the record stores
 * them, and with the password hash. */
export const DELETE: u32 = 1;
export const ALWAYS_CHANNELS: u32 = 2;
export const HIDE_HASH: u32 = 4;
/** Items of `changes`. With DELETE, of records that left or, with GONE, that no longer exist. */
export const CHANGE: u32 = 8;
export const GONE: u32 = 16;
/** Line breaks between items instead of commas. */
export const LINES: u32 = 32;

let shown: usize = 0;
let numbered: u32 = 0;

/**
 * Writes items for the records that can be delivered, among the elements of a BSON array: the `length` bytes at
 * `INPUT`. Returns the number of items. Records with a numeric `id` are skipped: the caller decides whether they are
 * shown. `mask` is the address of the fields that are shown of an update item; 0 if all are.
 */
export function items(length: usize, shape: u32, mask: usize): u32 {
  const end = INPUT + length;
  let count = 0;
  numbered = 0;
  showBy(mask);
  moveTo(OUTPUT);
  for (let at = INPUT; at < end;) {
    if (load<u8>(at) !== DOCUMENT) malformed();
    const start = textEnd(at + 1, end) + 1;
    at = valueEnd(DOCUMENT, start, end);
    record.read(start, at);
    if (!record.isDeliverable()) {
      if (record.hasNumber()) numbered++;
      continue;
    }
    if (count++ > 0) separator((shape & LINES) !== 0);
    shown = record.startOf(record.internalId);
    if (shape & DELETE) asDelete(shape);
    else updateItem((shape & ALWAYS_CHANNELS) !== 0, (shape & HIDE_HASH) !== 0, (shape & CHANGE) !== 0);
  }
  flushAll();
  return count;
}

function asDelete(shape: u32): void {
  if (shape & CHANGE) deleteChange((shape & GONE) !== 0);
  else deleteItem();
}

/** The number of records that were skipped because their `id` is a number. */
export function numbers(): u32 {
  return numbered;
}

/** The position of the last item's `_id` in the input. */
export function lastId(): usize {
  return shown;
}
