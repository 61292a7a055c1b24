import type { Kind } from '../../../record/index.js';
import { elementAt, elementsWithin } from './bson-reader.js';
import { SHAPE, transcribe } from './transcriber.js';

/** What the items of a feed show (contract §1). */
export type ItemShape = { item: 'update'; kind: Kind; withPasswordHash: boolean } | { item: 'delete' };

/** One portion of items as JSON text, separated by commas, none in front of the first or after the last. */
export interface ItemsText {
  /** Of the caller, who may keep them, or give back what nobody reads any more. */
  pieces: Buffer[];
  bytes: number;
  count: number;
  /** The `_id` of the last item, 24 hexadecimal digits. */
  last: string;
}

/** Bytes of BSON that are read at once, unless one document is longer. */
const PORTION_BYTES = 256 * 1024;

/**
 * The items of a batch of documents, in order, portion by portion: who stops pulling holds nothing but the batch. Documents
 * that can never be delivered are passed over (contract §4); all must have an ObjectId as `_id`. Throws MalformedBsonError.
 */
export function* itemsText(documents: Uint8Array, shape: ItemShape): Generator<ItemsText, void> {
  const bits = bitsOf(shape);
  const { start, end } = elementsWithin(documents);
  for (let at = start; at < end;) {
    const next = portionEnd(documents, at, end);
    const { pieces, count, last } = transcribe(documents.subarray(at, next), bits);
    const bytes = pieces.reduce((sum, { length }) => sum + length, 0);
    if (count > 0) yield { pieces, bytes, count, last };
    at = next;
  }
}

function bitsOf(shape: ItemShape): number {
  if (shape.item === 'delete') return SHAPE.delete;
  if (shape.kind === 'product') return SHAPE.product;
  return shape.withPasswordHash ? 0 : SHAPE.hideHash;
}

function portionEnd(documents: Uint8Array, start: number, end: number): number {
  let at = elementAt(documents, start, end).end;
  while (at < end) {
    const next = elementAt(documents, at, end).end;
    if (next - start > PORTION_BYTES) break;
    at = next;
  }
  return at;
}
