import { BSON_INT64, type Element, LENGTH_BYTES, valueEnd } from './bson-reader.js';

/** Double, 32-bit integer, 64-bit integer, decimal. */
const NUMBERS = [0x01, 0x10, BSON_INT64, 0x13];

/** The key `id`, and the zero behind it. */
const [I, D] = [0x69, 0x64];

/** Where the `id` of a document lies that has none. */
const NOWHERE = -1;

type Document = Pick<Element, 'start' | 'end'>;

/** Where the field `id` of a document begins. */
export function placeOfId(bytes: Uint8Array, document: Document): number {
  const end = document.end - 1;
  for (let at = document.start + LENGTH_BYTES; at < end;) {
    if (isIdAt(bytes, at)) return at;
    let keyEnd = at + 1;
    while (keyEnd < end && bytes[keyEnd] !== 0) keyEnd++;
    at = valueEnd(bytes[at]!, bytes, keyEnd + 1, end);
  }
  return NOWHERE;
}

/** Whether the field that begins in that place is a number. */
export function isNumber(bytes: Uint8Array, place: number): boolean {
  return place !== NOWHERE && NUMBERS.includes(bytes[place]!);
}

function isIdAt(bytes: Uint8Array, at: number): boolean {
  return bytes[at + 1] === I && bytes[at + 2] === D && bytes[at + 3] === 0;
}
