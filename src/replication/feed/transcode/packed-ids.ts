import { mongo } from 'mongoose';
import { BSON_DOCUMENT, type Element, elementAt, elementsWithin, MalformedBsonError } from './bson-reader.js';

const ID_BYTES = 12;

/** How a document begins whose first field is an ObjectId `_id`, after its length. */
const BEGINNING = Buffer.from('\u0007_id\0', 'latin1');
const BEFORE_ID = 4 + BEGINNING.length;

/** Of a document in a batch: type, key of one digit, length, `_id`, the last zero. */
const SHORTEST_ELEMENT = 3 + BEFORE_ID + ID_BYTES + 1;

/**
 * The `_id`s of a batch of documents, 12 bytes each. They come first, as MongoDB stores and projects them; documents with
 * an `_id` that is not an ObjectId are left out. Throws MalformedBsonError.
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

/** How many documents a batch holds, and the `_id` of the last, behind which a reading goes on. */
export interface IdTally {
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

export function idOf(bytes: Uint8Array, document: Element): mongo.ObjectId {
  if (!beginsWithId(bytes, document)) throw new MalformedBsonError();
  const start = document.start + BEFORE_ID;
  return new mongo.ObjectId(bytes.slice(start, start + ID_BYTES));
}

function beginsWithId(bytes: Uint8Array, { start, end }: { start: number; end: number }): boolean {
  return (
    end - start > BEFORE_ID + ID_BYTES && BEGINNING.every((byte, index) => bytes[start + 4 + index] === byte)
  );
}
