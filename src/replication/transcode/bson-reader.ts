/** Thrown for bytes that are not valid BSON. */
export class MalformedBsonError extends Error {
  override readonly name = 'MalformedBsonError';

  constructor() {
    super('The database sent BSON that is malformed.');
  }
}

export const BSON_TEXT = 0x02;
export const BSON_DOCUMENT = 0x03;
export const BSON_ARRAY = 0x04;
export const BSON_INT64 = 0x12;

const SHORTEST_DOCUMENT = 5;
export const LENGTH_BYTES = 4;

/** One key and value of a document, by their positions in its bytes. */
export interface Element {
  type: number;
  keyStart: number;
  keyEnd: number;
  start: number;
  end: number;
}

/** The range of the elements in a document or array that takes up all these bytes. */
export function elementsWithin(document: Uint8Array): { start: number; end: number } {
  if (documentEnd(document, 0, document.length) !== document.length) throw new MalformedBsonError();
  return { start: LENGTH_BYTES, end: document.length - 1 };
}

/** The element at a position among elements that end at `end`. Throws if its type is unknown. */
export function elementAt(bytes: Uint8Array, at: number, end: number): Element {
  const keyStart = at + 1;
  let keyEnd = keyStart;
  while (keyEnd < end && bytes[keyEnd] !== 0) keyEnd++;
  const type = bytes[at]!;
  const start = keyEnd + 1;
  return { type, keyStart, keyEnd, start, end: valueEnd(type, bytes, start, end) };
}

/** Value sizes in bytes by type; -1 for types of variable size. */
const SIZES = new Int8Array(256).fill(-1);
for (const [type, size] of [
  [0x01, 8], // double
  [0x06, 0], // undefined
  [0x07, 12], // ObjectId
  [0x08, 1], // boolean
  [0x09, 8], // date
  [0x0a, 0], // null
  [0x10, 4], // 32-bit integer
  [0x11, 8], // timestamp
  [BSON_INT64, 8],
  [0x13, 16], // decimal
  [0x7f, 0], // max key
  [0xff, 0], // min key
] as const)
  SIZES[type] = size;

/** The end of the value that begins at `start` and must lie before `end`. Throws if its type is unknown. */
export function valueEnd(type: number, bytes: Uint8Array, start: number, end: number): number {
  switch (type) {
    case BSON_DOCUMENT:
    case BSON_ARRAY:
      return documentEnd(bytes, start, end);
    case BSON_TEXT:
    case 0x0d: // code
    case 0x0e: // symbol
      return assertEnd(start + LENGTH_BYTES + lengthAt(bytes, start, end), end);
    case 0x05: // binary
      return assertEnd(start + LENGTH_BYTES + 1 + lengthAt(bytes, start, end), end);
    case 0x0b: // regular expression
      return textEnd(bytes, textEnd(bytes, start, end), end);
    case 0x0c: // DBPointer
      return assertEnd(start + LENGTH_BYTES + lengthAt(bytes, start, end) + 12, end);
    case 0x0f: // code with scope
      return assertEnd(start + Math.max(lengthAt(bytes, start, end), SHORTEST_DOCUMENT), end);
  }
  const size = SIZES[type]!;
  if (size === -1) throw new MalformedBsonError();
  return assertEnd(start + size, end);
}

function textEnd(bytes: Uint8Array, start: number, end: number): number {
  const zero = bytes.indexOf(0, start);
  if (zero === -1) throw new MalformedBsonError();
  return assertEnd(zero + 1, end);
}

function documentEnd(bytes: Uint8Array, start: number, end: number): number {
  const length = lengthAt(bytes, start, end);
  if (length < SHORTEST_DOCUMENT) throw new MalformedBsonError();
  const next = assertEnd(start + length, end);
  if (bytes[next - 1] !== 0) throw new MalformedBsonError();
  return next;
}

/** A negative length is read as one that is far too great. */
function lengthAt(bytes: Uint8Array, start: number, end: number): number {
  assertEnd(start + LENGTH_BYTES, end);
  const low = bytes[start]! | (bytes[start + 1]! << 8);
  const high = bytes[start + 2]! | (bytes[start + 3]! << 8);
  return (low | (high << 16)) >>> 0;
}

function assertEnd(place: number, end: number): number {
  if (place > end) throw new MalformedBsonError();
  return place;
}
