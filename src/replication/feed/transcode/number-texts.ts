import mongoose, { type mongo } from 'mongoose';
import { idTextOf, READ_FOR_JSON } from '../../../record/index.js';
import { BSON_TEXT, type Element, elementAt, elementsWithin } from './bson-reader.js';
import { isNumber, placeOfId } from './number-ids.js';
import { idOf } from './packed-ids.js';

const { BSON } = mongoose.mongo;
const ID_KEY = Buffer.from('id\0', 'latin1');

/** A record of a batch whose `id` is a number: the text of it, where it is a whole one of 64 bits. */
export interface Numbered {
  _id: mongo.ObjectId;
  text: string | undefined;
}

/** The records of a batch from a place on that have a number as `id`, in their order. Throws MalformedBsonError. */
export function numberedIn(documents: Uint8Array, from: number): Numbered[] {
  return [...documentsIn(documents, from)].flatMap(({ document, number }) =>
    number === undefined ? [] : [{ _id: idOf(documents, document), text: textOf(documents, number) }],
  );
}

/**
 * The same part of the batch with each number in place of an `id` as its text, where `isShown` says so of the record;
 * without the record where not. So what writes the items knows texts only.
 */
export function renamed(
  documents: Uint8Array,
  from: number,
  isShown: (one: Numbered) => boolean,
): Uint8Array {
  const parts: Uint8Array[] = [Buffer.alloc(4)];
  for (const { element, document, number } of documentsIn(documents, from)) {
    const text = number && textOf(documents, number);
    if (number === undefined) parts.push(documents.subarray(element.at, document.end));
    else if (text !== undefined && isShown({ _id: idOf(documents, document), text }))
      parts.push(...withText(documents, { element, document, number }, text));
  }
  parts.push(Buffer.of(0));
  const batch = Buffer.concat(parts);
  batch.writeInt32LE(batch.length);
  return batch;
}

/** A document of a batch, and the field `id` of it where that is a number: where they begin and lie. */
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

/** The driver reads the value, as the only one of a document. */
function textOf(bytes: Uint8Array, { at, end }: Element & { at: number }): string | undefined {
  const alone = Buffer.concat([Buffer.alloc(4), bytes.subarray(at, end), Buffer.of(0)]);
  alone.writeInt32LE(alone.length);
  return idTextOf(BSON.deserialize(alone, READ_FOR_JSON)['id']);
}
