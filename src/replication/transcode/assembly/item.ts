import * as bson from './bson';
import { isWritable, quotedDate } from './dates';
import { OF_CHANNELS } from './host';
import { put, room } from './output';
import { document, isText, listOfOne, listOfTexts, value } from './json';
import * as literals from './literals';
import { write } from './literals';
import * as mask from './mask';
import * as record from './record';
import { quotedString } from './text';

const CLOSE_ITEM = 0x7d;
/** A BSON string without characters: its length with the zero, and the zero. */
const EMPTY_TEXT = memory.data<u8>([1, 0, 0, 0, 0]);

/** Writes the record last read as an update item, or as an item of `changes` (contract §1). */
export function updateItem(alwaysChannels: bool, hidesHash: bool, isChange: bool): void {
  write(isChange ? literals.BEFORE_ID_OF_UPSERT : literals.BEFORE_ID);
  asStored(record.id);
  write(literals.BEFORE_TYPE);
  type();
  write(literals.BEFORE_CREATE_DATE);
  creation();
  createdBy();
  write(literals.BEFORE_LASTUPDATED);
  asStored(record.lastupdated);
  write(literals.BEFORE_DATA);
  data(hidesHash);
  channels(alwaysChannels, mask.ofChannels());
  close();
}

/** Writes the record last read as a delete item. */
export function deleteItem(): void {
  write(literals.BEFORE_ID);
  asStored(record.id);
  write(literals.BEFORE_LAST_UPDATED);
  asStored(record.lastupdated);
  close();
}

/** Writes the record last read as an item of `changes` that reports its end. */
export function deleteChange(isGone: bool): void {
  write(literals.BEFORE_ID_OF_DELETE);
  asStored(record.id);
  write(literals.BEFORE_LASTUPDATED);
  asStored(record.lastupdated);
  write(isGone ? literals.GONE : literals.LEFT);
  close();
}

function asStored(field: usize): void {
  const type = record.typeOf(field);
  if (type === 0) write(literals.NULL);
  else value(type, record.startOf(field), record.endOf(field), 1);
}

/** Writes the type of the record: if none is stored, its kind. */
function type(): void {
  const stored = record.type;
  if (isText(record.typeOf(stored))) return quotedString(record.startOf(stored), record.endOf(stored));
  write(literals.QUOTE);
  write(literals.KIND);
  write(literals.QUOTE);
}

function textOr(field: usize, other: usize): void {
  if (isText(record.typeOf(field))) quotedString(record.startOf(field), record.endOf(field));
  else write(other);
}

/** Writes the creation date. If none is stored, or if it cannot be written, uses the second that `_id` begins with. */
function creation(): void {
  const stored = record.startOf(record.createDate);
  if (record.typeOf(record.createDate) === bson.DATE && isWritable(load<i64>(stored))) {
    quotedDate(load<i64>(stored));
    return;
  }
  quotedDate((bswap(load<u32>(record.startOf(record.internalId))) as i64) * 1000);
}

function createdBy(): void {
  const treatment = mask.ofCreatedBy();
  if (treatment === mask.HIDE) return;
  write(literals.BEFORE_CREATED_BY);
  const stored = record.createdBy;
  if (treatment === mask.SHOW) textOr(stored, literals.NO_TEXT);
  else if (isText(record.typeOf(stored)))
    mask.hash(record.typeOf(stored), record.startOf(stored), record.endOf(stored));
  else mask.hash(bson.STRING, EMPTY_TEXT, EMPTY_TEXT + 5);
}

function data(hidesHash: bool): void {
  const stored = record.data;
  if (record.typeOf(stored) !== bson.DOCUMENT) return write(literals.NO_DOCUMENT);
  if (mask.isMasked()) return mask.data(record.startOf(stored), record.endOf(stored), hidesHash);
  document(record.startOf(stored), record.endOf(stored), 1, hidesHash);
}

function channels(alwaysChannels: bool, treatment: u32): void {
  if (treatment === mask.HIDE) return;
  const stored = record.channels;
  const isList = record.typeOf(stored) === bson.ARRAY;
  const isOne = isText(record.typeOf(stored));
  if (!isList && !isOne && !alwaysChannels) return;
  write(literals.BEFORE_CHANNELS);
  if (treatment === mask.HASH)
    mask.hash(
      OF_CHANNELS | (isList || isOne ? record.typeOf(stored) : 0),
      record.startOf(stored),
      record.endOf(stored),
    );
  else if (isList) listOfTexts(record.startOf(stored), record.endOf(stored));
  else if (isOne) listOfOne(record.startOf(stored), record.endOf(stored));
  else write(literals.NO_LIST);
}

function close(): void {
  room(1);
  put(CLOSE_ITEM);
}
