import * as bson from './bson';
import { malformed } from './host';
import {
  APPID,
  CHANNELS,
  CREATE_DATE,
  CREATED_BY,
  DATA,
  ID,
  INTERNAL_ID,
  isKey,
  LASTUPDATED,
  ORGANIZATIONID,
  TYPE,
} from './literals';

/** The record fields that items use. Each constant is the address at which the field's type, start and end are stored. */
const SIZE: usize = 12;
const fields = memory.data(10 * 12, 16);
export const internalId: usize = fields;
export const id: usize = fields + SIZE;
export const type: usize = fields + 2 * SIZE;
export const createDate: usize = fields + 3 * SIZE;
export const createdBy: usize = fields + 4 * SIZE;
export const lastupdated: usize = fields + 5 * SIZE;
export const data: usize = fields + 6 * SIZE;
export const channels: usize = fields + 7 * SIZE;
const organizationid: usize = fields + 8 * SIZE;
const appid: usize = fields + 9 * SIZE;
const NONE: usize = 0;

/** The type of a field of the record last read; 0 if the record has no such field. */
export function typeOf(field: usize): u32 {
  return load<u32>(field);
}

export function startOf(field: usize): usize {
  return load<usize>(field, 4);
}

export function endOf(field: usize): usize {
  return load<usize>(field, 8);
}

/** Finds the fields of a record. If a field occurs more than once, the first one counts, as in MongoDB. */
export function read(at: usize, end: usize): void {
  memory.fill(fields, 0, 10 * SIZE);
  const last = end - 1;
  for (at += 4; at < last;) {
    const key = at + 1;
    const keyEnd = bson.textEnd(key, last);
    const start = keyEnd + 1;
    const next = bson.valueEnd(load<u8>(at), start, last);
    const field = fieldOf(key, keyEnd);
    if (field !== NONE && typeOf(field) === 0) {
      store<u32>(field, load<u8>(at));
      store<usize>(field, start, 4);
      store<usize>(field, next, 8);
    }
    at = next;
  }
  if (typeOf(internalId) !== bson.OBJECT_ID) malformed();
}

/**
 * Whether the record last read can be delivered (contract §4). Queries also match arrays that contain the text or the date.
 * An array in place of organization, application or `id` is not a string, and one in place of `lastupdated` still has to be
 * repaired.
 */
export function isDeliverable(): bool {
  if (typeOf(id) !== bson.STRING || typeOf(lastupdated) !== bson.DATE) return false;
  return isTextOrMissing(organizationid) && isTextOrMissing(appid);
}

/** Whether the `id` of the record last read is a number. */
export function hasNumber(): bool {
  const stored = typeOf(id);
  return (
    stored === bson.DOUBLE || stored === bson.INT32 || stored === bson.INT64 || stored === bson.DECIMAL128
  );
}

function isTextOrMissing(field: usize): bool {
  return typeOf(field) === bson.STRING || typeOf(field) === 0;
}

function fieldOf(key: usize, end: usize): usize {
  switch ((end - key) as u32) {
    case 2:
      return isKey(key, ID) ? id : NONE;
    case 3:
      return isKey(key, INTERNAL_ID) ? internalId : NONE;
    case 4:
      return isKey(key, TYPE) ? type : isKey(key, DATA) ? data : NONE;
    case 5:
      return isKey(key, APPID) ? appid : NONE;
    case 8:
      return isKey(key, CHANNELS) ? channels : NONE;
    case 9:
      return isKey(key, CREATED_BY) ? createdBy : NONE;
    case 10:
      return isKey(key, CREATE_DATE) ? createDate : NONE;
    case 11:
      return isKey(key, LASTUPDATED) ? lastupdated : NONE;
    case 14:
      return isKey(key, ORGANIZATIONID) ? organizationid : NONE;
    default:
      return NONE;
  }
}
