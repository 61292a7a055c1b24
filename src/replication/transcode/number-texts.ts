import mongoose, { mongo } from 'mongoose';
import {
  BSON_INT64,
  type Element,
  LENGTH_BYTES,
  valueEnd,
  BSON_DOCUMENT,
  elementAt,
  elementsWithin,
  MalformedBsonError,
  BSON_TEXT,
} from './bson-reader.js';
import { idTextOf, READ_FOR_JSON } from '../../record/index.js';

/** Double, 32-bit integer, 64-bit integer, decimal. */
const NUMBERS = [0x01, 0x10, BSON_INT64, 0x13];

/** The key `id`. A zero byte follows it. */
const [I, D] = [0x69, 0x64];

/** The position for a document without an `id`. */
const NOWHERE = -1;

type Document = Pick<Element, 'start' | 'end'>;

/** The position at which the field `id` of a document begins. */
function placeOfId(bytes: Uint8Array, document: Document): number {
  const end = document.end - 1;
  for (let at = document.start + LENGTH_BYTES; at < end;) {
    if (isIdAt(bytes, at)) return at;
    let keyEnd = at + 1;
    while (keyEnd < end && bytes[keyEnd] !== 0) keyEnd++;
    at = valueEnd(bytes[at]!, bytes, keyEnd + 1, end);
  }
  return NOWHERE;
}

/** Whether the field that begins at this position is a number. */
function isNumber(bytes: Uint8Array, place: number): boolean {
  return place !== NOWHERE && NUMBERS.includes(bytes[place]!);
}

function isIdAt(bytes: Uint8Array, at: number): boolean {
  return bytes[at + 1] === I && bytes[at + 2] === D && bytes[at + 3] === 0;
}

const ID_BYTES = 12;

/** The first bytes of a document, after its length, if its first field is an ObjectId `_id`. */
const BEGINNING = Buffer.from('\u0007_id\0', 'latin1');
const BEFORE_ID = 4 + BEGINNING.length;

/** The shortest element of a batch: type, key of one digit, length, `_id`, the last zero. */
const SHORTEST_ELEMENT = 3 + BEFORE_ID + ID_BYTES + 1;

/**
 * The `_id`s of a batch of documents, 12 bytes each. `_id` comes first, as MongoDB stores and projects it. Documents
 * whose `_id` is not an ObjectId are omitted. Throws MalformedBsonError.
 */
export function packedIds(documents: Uint8Array): Uint8Array {
  const packed = new Uint8Array(Math.ceil(documents.length / SHORTEST_ELEMENT) * ID_BYTES);
  let length = 0;
  const { start, end } = elementsWithin(documents);
  for (let at = start; at < end;) {
    const document = elementAt(documents, at, end);
    if (document.type !== BSON_DOCUMENT) throw new MalformedBsonError();
    at = document.end;
    if (!beginsWithId(documents, document)) continue;
    const id = document.start + BEFORE_ID;
    for (let index = 0; index < ID_BYTES; index++) packed[length++] = documents[id + index]!;
  }
  return packed.slice(0, length);
}

/** The number of documents in a batch, and the `_id` of the last one, after which reading continues. */
interface IdTally {
  count: number;
  last: mongo.ObjectId | undefined;
}

/** All documents must have an ObjectId as `_id`. Throws MalformedBsonError. */
export function tallyOf(documents: Uint8Array): IdTally {
  let count = 0;
  let last: Element | undefined;
  const { start, end } = elementsWithin(documents);
  for (let at = start; at < end; at = last.end) {
    last = elementAt(documents, at, end);
    if (last.type !== BSON_DOCUMENT) throw new MalformedBsonError();
    count += 1;
  }
  return { count, last: last && idOf(documents, last) };
}

function idOf(bytes: Uint8Array, document: Element): mongo.ObjectId {
  if (!beginsWithId(bytes, document)) throw new MalformedBsonError();
  const start = document.start + BEFORE_ID;
  return new mongo.ObjectId(bytes.slice(start, start + ID_BYTES));
}

function beginsWithId(bytes: Uint8Array, { start, end }: { start: number; end: number }): boolean {
  return (
    end - start > BEFORE_ID + ID_BYTES && BEGINNING.every((byte, index) => bytes[start + 4 + index] === byte)
  );
}

const { BSON } = mongoose.mongo;
const ID_KEY = Buffer.from('id\0', 'latin1');

/**
 * A record of a batch whose `id` is a number, and the text of that number if it is a whole number that fits into 64
 * bits.
 */
interface Numbered {
  _id: mongo.ObjectId;
  text: string | undefined;
}

/** The records of a batch, from a position on, that have a numeric `id`, in order. Throws MalformedBsonError. */
export function numberedIn(documents: Uint8Array, from: number): Numbered[] {
  return [...documentsIn(documents, from)].flatMap(({ document, number }) =>
    number === undefined ? [] : [{ _id: idOf(documents, document), text: elementText(documents, number) }],
  );
}

/**
 * The batch from a position on, with each numeric `id` replaced by its text. A record with such an `id` is omitted if
 * it has no text, or if `isShown` returns false. So the writer of items handles only texts.
 */
export function renamed(
  documents: Uint8Array,
  from: number,
  isShown: (one: Numbered) => boolean,
): Uint8Array {
  const parts: Uint8Array[] = [Buffer.alloc(4)];
  for (const { element, document, number } of documentsIn(documents, from)) {
    const text = number && elementText(documents, number);
    if (number === undefined) parts.push(documents.subarray(element.at, document.end));
    else if (text !== undefined && isShown({ _id: idOf(documents, document), text }))
      parts.push(...withText(documents, { element, document, number }, text));
  }
  parts.push(Buffer.of(0));
  const batch = Buffer.concat(parts);
  batch.writeInt32LE(batch.length);
  return batch;
}

/** A document of a batch, and its field `id` if that is a number, with their positions. */
interface Found {
  element: { at: number };
  document: Element;
  number: (Element & { at: number }) | undefined;
}

function* documentsIn(documents: Uint8Array, from: number): Generator<Found, void> {
  const { start, end } = elementsWithin(documents);
  for (let at = Math.max(start, from); at < end;) {
    const document = elementAt(documents, at, end);
    const idAt = placeOfId(documents, document);
    const number = isNumber(documents, idAt)
      ? { ...elementAt(documents, idAt, document.end - 1), at: idAt }
      : undefined;
    yield { element: { at }, document, number };
    at = document.end;
  }
}

function withText(bytes: Uint8Array, { element, document, number }: Found, text: string): Uint8Array[] {
  const { at, end } = number!;
  const value = Buffer.from(`${text}\0`, 'latin1');
  const [size, length] = [Buffer.alloc(4), Buffer.alloc(4)];
  const field = Buffer.concat([Buffer.of(BSON_TEXT), ID_KEY, length, value]);
  field.writeInt32LE(value.length, 1 + ID_KEY.length);
  size.writeInt32LE(document.end - document.start - (end - at) + field.length);
  return [
    bytes.subarray(element.at, document.start),
    size,
    bytes.subarray(document.start + 4, at),
    field,
    bytes.subarray(end, document.end),
  ];
}

/** Reads the number with the driver, as the only value of a document. */
function elementText(bytes: Uint8Array, { at, end }: Element & { at: number }): string | undefined {
  const alone = Buffer.concat([Buffer.alloc(4), bytes.subarray(at, end), Buffer.of(0)]);
  alone.writeInt32LE(alone.length);
  return idTextOf(BSON.deserialize(alone, READ_FOR_JSON)['id']);
}
