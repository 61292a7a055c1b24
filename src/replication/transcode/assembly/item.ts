import * as bson from './bson';
import { isWritable, quotedDate } from './dates';
import { document, isText, listOfOne, listOfTexts, value } from './json';
import * as literals from './literals';
import { write } from './literals';
import { put, room } from './output';
import * as record from './record';
import { quotedString } from './text';

const CLOSE_ITEM = 0x7d;

/** Writes the record last read as an update item, or as an item of `changes` (contract §1). */
export function updateItem(alwaysChannels: bool, hidesHash: bool, isChange: bool): void {
  write(isChange ? literals.BEFORE_ID_OF_UPSERT : literals.BEFORE_ID);
  asStored(record.id);
  write(literals.BEFORE_TYPE);
  textOr(record.type, literals.KIND);
  write(literals.BEFORE_CREATE_DATE);
  creation();
  write(literals.BEFORE_CREATED_BY);
  textOr(record.createdBy, literals.NO_TEXT);
  write(literals.BEFORE_LASTUPDATED);
  asStored(record.lastupdated);
  write(literals.BEFORE_DATA);
  data(hidesHash);
  channels(alwaysChannels);
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

function data(hidesHash: bool): void {
  const stored = record.data;
  if (record.typeOf(stored) !== bson.DOCUMENT) return write(literals.NO_DOCUMENT);
  document(record.startOf(stored), record.endOf(stored), 1, hidesHash);
}

function channels(alwaysChannels: bool): void {
  const stored = record.channels;
  const isList = record.typeOf(stored) === bson.ARRAY;
  const isOne = isText(record.typeOf(stored));
  if (!isList && !isOne && !alwaysChannels) return;
  write(literals.BEFORE_CHANNELS);
  if (isList) listOfTexts(record.startOf(stored), record.endOf(stored));
  else if (isOne) listOfOne(record.startOf(stored), record.endOf(stored));
  else write(literals.NO_LIST);
}

function close(): void {
  room(1);
  put(CLOSE_ITEM);
}
