/** Bytes that claim to be BSON and are not. */
export class MalformedBsonError extends Error {
  override readonly name = 'MalformedBsonError';

  constructor() {
    super('The database sent BSON that is malformed.');
  }
}

export const BSON_DOCUMENT = 0x03;
export const BSON_ARRAY = 0x04;
export const BSON_INT64 = 0x12;

const SHORTEST_DOCUMENT = 5;
const LENGTH_BYTES = 4;

/** One key and value of a document: where they lie in its bytes. */
export interface Element {
  type: number;
  keyStart: number;
  keyEnd: number;
  start: number;
  end: number;
}

/** Where the elements of a document or array that takes up all these bytes lie. */
export function elementsWithin(document: Uint8Array): { start: number; end: number } {
  if (documentEnd(document, 0, document.length) !== document.length) throw new MalformedBsonError();
  return { start: LENGTH_BYTES, end: document.length - 1 };
}

/** The element at a place among elements that end at `end`. Throws where the value is not of a type that replies have. */
export function elementAt(bytes: Uint8Array, at: number, end: number): Element {
  const keyStart = at + 1;
  let keyEnd = keyStart;
  while (keyEnd < end && bytes[keyEnd] !== 0) keyEnd++;
  const type = bytes[at]!;
  const start = keyEnd + 1;
  return { type, keyStart, keyEnd, start, end: valueEnd(type, bytes, start, end) };
}

function valueEnd(type: number, bytes: Uint8Array, start: number, end: number): number {
  switch (type) {
    case BSON_DOCUMENT:
    case BSON_ARRAY:
      return documentEnd(bytes, start, end);
    case 0x02: // string
      return within(start + LENGTH_BYTES + lengthAt(bytes, start, end), end);
    case 0x05: // binary
      return within(start + LENGTH_BYTES + 1 + lengthAt(bytes, start, end), end);
    case 0x08: // boolean
      return within(start + 1, end);
    case 0x0a: // null
      return within(start, end);
    case 0x10: // 32-bit integer
      return within(start + 4, end);
    case 0x01: // double
    case 0x09: // date
    case 0x11: // timestamp
    case BSON_INT64:
      return within(start + 8, end);
    default:
      throw new MalformedBsonError();
  }
}

function documentEnd(bytes: Uint8Array, start: number, end: number): number {
  const length = lengthAt(bytes, start, end);
  if (length < SHORTEST_DOCUMENT) throw new MalformedBsonError();
  const next = within(start + length, end);
  if (bytes[next - 1] !== 0) throw new MalformedBsonError();
  return next;
}

/** A negative length reads as one far too great. */
function lengthAt(bytes: Uint8Array, start: number, end: number): number {
  within(start + LENGTH_BYTES, end);
  const low = bytes[start]! | (bytes[start + 1]! << 8);
  const high = bytes[start + 2]! | (bytes[start + 3]! << 8);
  return (low | (high << 16)) >>> 0;
}

function within(place: number, end: number): number {
  if (place > end) throw new MalformedBsonError();
  return place;
}
