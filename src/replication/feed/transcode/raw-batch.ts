import { BSON_ARRAY, BSON_INT64, elementAt, elementsWithin, MalformedBsonError } from './bson-reader.js';

/** What a raw reply of `find` or `getMore` holds. */
export interface RawBatch {
  /** The BSON array of documents: a view of the reply, no copy. */
  documents: Uint8Array;
  /** 0 where there is nothing more to get. */
  cursorId: bigint;
}

/** Takes the `cursor` of a raw reply apart. Throws MalformedBsonError. */
export function rawBatch(cursor: Uint8Array): RawBatch {
  let documents: Uint8Array | undefined;
  let cursorId: bigint | undefined;
  const { start, end } = elementsWithin(cursor);
  for (let at = start; at < end;) {
    const element = elementAt(cursor, at, end);
    const key = Buffer.from(cursor.subarray(element.keyStart, element.keyEnd)).toString('latin1');
    const value = cursor.subarray(element.start, element.end);
    if (element.type === BSON_ARRAY && (key === 'firstBatch' || key === 'nextBatch')) documents = value;
    if (element.type === BSON_INT64 && key === 'id') cursorId = Buffer.from(value).readBigInt64LE();
    at = element.end;
  }
  if (documents === undefined || cursorId === undefined) throw new MalformedBsonError();
  return { documents, cursorId };
}
