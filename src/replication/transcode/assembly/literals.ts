import { moveTo, position, room } from './output';

/** The maximum length of a text (bytes). One byte with the length of the text follows. */
const LONGEST = 32;
const SLOT = LONGEST + 16;

const slots = memory.data(40 * 48);
let nextSlot: usize = slots;

function ascii(text: string): usize {
  const slot = nextSlot;
  for (let i = 0; i < text.length; i++) store<u8>(slot + i, text.charCodeAt(i));
  store<u8>(slot + LONGEST, text.length);
  nextSlot += SLOT;
  return slot;
}

export const ID = ascii('id');
export const INTERNAL_ID = ascii('_id');
export const ORGANIZATIONID = ascii('organizationid');
export const APPID = ascii('appid');
export const TYPE = ascii('type');
export const CREATE_DATE = ascii('createDate');
export const CREATED_BY = ascii('createdBy');
export const LASTUPDATED = ascii('lastupdated');
export const DATA = ascii('data');
export const CHANNELS = ascii('channels');
export const PASSWORDHASH = ascii('passwordhash');

export const BEFORE_ID = ascii('{"id":');
export const BEFORE_ID_OF_UPSERT = ascii('{"op":"upsert","id":');
export const BEFORE_ID_OF_DELETE = ascii('{"op":"delete","id":');
export const BEFORE_TYPE = ascii(',"type":');
export const BEFORE_CREATE_DATE = ascii(',"createDate":');
export const BEFORE_CREATED_BY = ascii(',"createdBy":');
export const BEFORE_LASTUPDATED = ascii(',"lastupdated":');
export const BEFORE_LAST_UPDATED = ascii(',"lastUpdated":');
export const BEFORE_DATA = ascii(',"data":');
export const BEFORE_CHANNELS = ascii(',"channels":');

export const LEFT = ascii(',"reason":"left"');
export const GONE = ascii(',"reason":"gone"');
/** The name of the kind, of at most `LONGEST` bytes: the host writes it here. */
export const KIND = ascii('');
export const QUOTE = ascii('"');
export const NO_TEXT = ascii('""');
export const NO_LIST = ascii('[]');
export const NO_DOCUMENT = ascii('{}');
export const NULL = ascii('null');
export const TRUE = ascii('true');
export const FALSE = ascii('false');

/** Writes a text of this list. */
export function write(literal: usize): void {
  room(LONGEST);
  v128.store(position, v128.load(literal));
  v128.store(position, v128.load(literal, 16), 16);
  moveTo(position + load<u8>(literal, LONGEST));
}

/** Whether `at` holds a text of this list, of at most 15 bytes, followed by a zero. */
export function isKey(at: usize, literal: usize): bool {
  const same = i8x16.bitmask(i8x16.eq(v128.load(at), v128.load(literal)));
  return ctz(~same) > load<u8>(literal, LONGEST);
}
