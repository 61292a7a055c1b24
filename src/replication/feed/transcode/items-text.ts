import type { Kind } from '../../../record/index.js';
import { elementAt, elementsWithin } from './bson-reader.js';
import { largeText } from './large-text.js';
import { SHAPE, transcribe } from './transcriber.js';

/** What the items of a feed show, and those of `changes`: an upsert, or the end of a record that left or is gone (contract §1). */
export type ItemShape = (
  | { item: 'update' | 'upsert'; kind: Kind; withPasswordHash: boolean }
  | { item: 'delete' | 'left' | 'gone' }
) & {
  /** Separated by line breaks in place of commas. */
  asLines?: boolean;
};

/** One portion of items as JSON text, separated, with nothing in front of the first or after the last. */
export interface ItemsText {
  /** Those of a large record are made as they are taken. The caller may keep them, or give back what nobody reads any more. */
  pieces: Iterable<Buffer>;
  bytes: number;
  /** Bytes of memory that the pieces hold: those that are made already, or of what they are made from. */
  held: number;
  count: number;
  /** The `_id` of the last item, 24 hexadecimal digits. */
  last: string;
}

/** Bytes of BSON that are read at once, unless one document is longer. */
const PORTION_BYTES = 256 * 1024;

/**
 * The items of a batch of documents, in order, portion by portion: who stops pulling holds nothing but the batch. Documents
 * that can never be delivered are passed over (contract §4); all must have an ObjectId as `_id`. Throws MalformedBsonError.
 *
 * Where a portion has a record with a number as `id`, nothing of it is written: the answer is where it begins.
 */
export function* itemsText(
  documents: Uint8Array,
  shape: ItemShape,
): Generator<ItemsText, number | undefined> {
  const bits = bitsOf(shape);
  const { start, end } = elementsWithin(documents);
  for (let at = start; at < end;) {
    const next = portionEnd(documents, at, end);
    const portion = documents.subarray(at, next);
    const { pieces, bytes, count, numbers, last } = transcribe(portion, bits);
    if (numbers > 0) return at;
    if (count > 0 && pieces !== undefined) yield { pieces, bytes, held: bytes, count, last };
    else if (count > 0) yield { pieces: largeText(portion, bits), bytes, held: portion.length, count, last };
    at = next;
  }
  return undefined;
}

function bitsOf(shape: ItemShape): number {
  const ofChanges = shape.item === 'delete' || shape.item === 'update' ? 0 : SHAPE.change;
  const common = ofChanges | (shape.asLines ? SHAPE.lines : 0);
  if (!('kind' in shape)) return SHAPE.delete | common | (shape.item === 'gone' ? SHAPE.gone : 0);
  if (shape.kind === 'product') return SHAPE.product | common;
  return shape.withPasswordHash ? common : SHAPE.hideHash | common;
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
