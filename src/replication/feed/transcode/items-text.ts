import type { Kind } from '../../../record/index.js';
import { elementAt, elementsWithin } from './bson-reader.js';
import { piecesBehind, SHAPE, transcribe, type Transcript } from './transcriber.js';

/** What the items of a feed show (contract §1). */
export type ItemShape = { item: 'update'; kind: Kind; withPasswordHash: boolean } | { item: 'delete' };

/** One portion of items as JSON text, separated by commas, none in front of the first or after the last. */
export interface ItemsText {
  /** Those of a large record are made as they are taken. The caller may keep them, or give back what nobody reads any more. */
  pieces: Iterable<Buffer>;
  bytes: number;
  /** Bytes of those pieces that are made already. */
  held: number;
  count: number;
  /** The `_id` of the last item, 24 hexadecimal digits. */
  last: string;
}

/** Bytes of BSON that are read at once, unless one document is longer. */
const PORTION_BYTES = 256 * 1024;
/** A text that is too large to be held is made in so many parts: each costs the time of all before it. */
const PARTS = 8;

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
    const transcript = transcribe(portion, bits);
    const { bytes, count, numbers, last } = transcript;
    if (numbers > 0) return at;
    const held = transcript.pieces.reduce((sum, { length }) => sum + length, 0);
    if (count > 0) yield { pieces: piecesOf(transcript, portion, bits), bytes, held, count, last };
    at = next;
  }
  return undefined;
}

/** The text of a large record is made in parts: all of it may be six times as much as what is stored. */
function piecesOf(transcript: Transcript, portion: Uint8Array, bits: number): Iterable<Buffer> {
  return transcript.isWhole ? transcript.pieces : partByPart(transcript, portion, bits);
}

function* partByPart(
  { pieces, bytes }: Transcript,
  portion: Uint8Array,
  bits: number,
): Generator<Buffer, void> {
  const most = bytes / PARTS;
  for (let passed = 0; pieces.length > 0; pieces = piecesBehind({ passed, most }, portion, bits)) {
    passed += pieces.length;
    yield* pieces;
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
