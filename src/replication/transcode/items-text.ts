import { instantiatePausing, type PausingProgram, instantiate } from './wasm.js';
import { type Shape, Writer, giveBack } from './writer.js';
import type { FieldMask } from './field-mask.js';
import { describedKind, type Kind } from '../../kinds/index.js';
import {
  BSON_ARRAY,
  BSON_DOCUMENT,
  BSON_INT64,
  elementAt,
  elementsWithin,
  LENGTH_BYTES,
  MalformedBsonError,
} from './bson-reader.js';
import { renamed } from './number-texts.js';

/** Bytes in which a paused program stores its position: twice what the deepest nesting needs. */
const PLACE_BYTES = 0x1_0000;
const POINTER_BYTES = 4;
const PAUSING = 1;
const RESUMING = 2;

class PausingWriter extends Writer<PausingProgram> {
  private pieces: Buffer[] = [];
  private place = 0;

  *write(elements: Uint8Array, shape: Shape): Generator<Buffer, void> {
    const mask = this.begin(elements, shape);
    while (this.goOn(elements.length, shape.bits, mask)) {
      yield* this.taken();
      this.program.asyncify_start_rewind(this.place);
    }
    yield* this.taken();
  }

  protected override take(piece: Buffer, copy: (piece: Buffer) => Buffer): void {
    this.pieces.push(copy(piece));
  }

  protected override flush(end: number): void {
    if (this.program.asyncify_get_state() === RESUMING) {
      this.program.asyncify_stop_rewind();
      return;
    }
    super.flush(end);
    this.program.asyncify_start_unwind(this.place);
  }

  /** Returns the address of the mask. */
  private begin(elements: Uint8Array, shape: Shape): number {
    const { mask, free } = this.load(elements, shape, PLACE_BYTES);
    this.place = free;
    this.memory.writeUInt32LE(this.place + 2 * POINTER_BYTES, this.place);
    this.memory.writeUInt32LE(this.place + PLACE_BYTES, this.place + POINTER_BYTES);
    return mask;
  }

  /** Writes up to the next pause. Returns false when everything is written. */
  private goOn(length: number, bits: number, mask: number): boolean {
    this.program.items(length, bits, mask);
    if (this.program.asyncify_get_state() !== PAUSING) return false;
    this.program.asyncify_stop_unwind();
    return true;
  }

  private taken(): Buffer[] {
    const { pieces } = this;
    this.pieces = [];
    return pieces;
  }
}

/**
 * Writes the same text as `transcribe`, piece by piece, if the text is too large to be held in memory. A separate
 * instance of the program holds the elements and writes the text in one run. It pauses after each piece until the next
 * one is requested. Throws MalformedBsonError.
 */
function largeText(elements: Uint8Array, shape: Shape): Generator<Buffer, void> {
  return new PausingWriter(instantiatePausing).write(elements, shape);
}

/** The maximum number of bytes of text that are held at once: more than ordinary documents ever need. */
const MOST_BYTES = 2 * 1024 * 1024;

/** Items as text, with facts about them. */
interface Transcript {
  /** The text, unless it is too large to be held. */
  pieces: Buffer[] | undefined;
  /** Bytes of the text. */
  bytes: number;
  count: number;
  /** The number of records that were skipped because their `id` is a number. */
  numbers: number;
  last: string;
}

class Transcriber extends Writer {
  private pieces: Buffer[] | undefined = [];
  private bytes = 0;

  transcribe(elements: Uint8Array, shape: Shape): Transcript {
    const { mask } = this.load(elements, shape);
    [this.pieces, this.bytes] = [[], 0];
    const count = this.program.items(elements.length, shape.bits, mask);
    const { pieces, bytes, lastId } = this;
    return { pieces, bytes, count, numbers: this.program.numbers(), last: lastId };
  }

  protected override take(piece: Buffer, copy: (piece: Buffer) => Buffer): void {
    this.bytes += piece.length;
    if (this.bytes <= MOST_BYTES) {
      this.pieces?.push(copy(piece));
    } else {
      this.pieces?.forEach(giveBack);
      this.pieces = undefined;
    }
  }
}

const transcriber = new Transcriber(instantiate);
const { DELETE, ALWAYS_CHANNELS, HIDE_HASH, CHANGE, GONE, LINES } = transcriber.program;

/** The bits that make up a shape of items. */
const SHAPE = {
  delete: DELETE.value,
  channels: ALWAYS_CHANNELS.value,
  hideHash: HIDE_HASH.value,
  change: CHANGE.value,
  gone: GONE.value,
  lines: LINES.value,
};

/**
 * Writes the items of some elements of a BSON array. `shape` consists of bits of {@link SHAPE}. Throws
 * MalformedBsonError.
 */
function transcribe(elements: Uint8Array, shape: Shape): Transcript {
  return transcriber.transcribe(elements, shape);
}

/**
 * The contents of the items of a feed, and of `changes` (contract §1): an upsert, or the end of a record that left or is
 * gone.
 */
export type ItemShape = (
  | {
      item: 'update' | 'upsert';
      kind: Kind;
      withPasswordHash: boolean;
      /** The fields that are shown; all if absent. */
      mask?: FieldMask | undefined;
    }
  | { item: 'delete' | 'left' | 'gone' }
) & {
  /** Items are separated by line breaks instead of commas. */
  asLines?: boolean;
};

/** One portion of items as JSON text, separated, without a separator before the first item or after the last. */
export interface ItemsText {
  /**
   * The pieces of the text. Those of a large record are created as they are consumed. The caller may keep a piece, or
   * return it with `giveBack` once it is no longer read.
   */
  pieces: Iterable<Buffer>;
  bytes: number;
  /** Bytes of memory in use: by the existing pieces, or by the input that they are created from. */
  held: number;
  count: number;
  /** The `_id` of the last item, 24 hexadecimal digits. */
  last: string;
}

/** Bytes of BSON that are processed at once, unless a single document is longer. */
const PORTION_BYTES = 256 * 1024;

/**
 * The items of a batch of documents, in order, portion by portion. A consumer that stops pulling holds only the batch.
 * Documents that can never be delivered are skipped (contract §4); all must have an ObjectId as `_id`. Throws
 * MalformedBsonError.
 *
 * If a portion has a record with a numeric `id`, none of that portion is written, and the return value is its start.
 */
export function* itemsText(
  documents: Uint8Array,
  shape: ItemShape,
): Generator<ItemsText, number | undefined> {
  const how = {
    bits: bitsOf(shape),
    ...('kind' in shape ? { kind: shape.kind, mask: shape.mask } : { kind: '' }),
  };
  const { start, end } = elementsWithin(documents);
  for (let at = start; at < end;) {
    const next = portionEnd(documents, at, end);
    const portion = documents.subarray(at, next);
    const { pieces, bytes, count, numbers, last } = transcribe(portion, how);
    if (numbers > 0) return at;
    if (count > 0 && pieces !== undefined) yield { pieces, bytes, held: bytes, count, last };
    else if (count > 0) yield { pieces: largeText(portion, how), bytes, held: portion.length, count, last };
    at = next;
  }
  return undefined;
}

function bitsOf(shape: ItemShape): number {
  const ofChanges = shape.item === 'delete' || shape.item === 'update' ? 0 : SHAPE.change;
  const common = ofChanges | (shape.asLines ? SHAPE.lines : 0);
  if (!('kind' in shape)) return SHAPE.delete | common | (shape.item === 'gone' ? SHAPE.gone : 0);
  const { alwaysHasChannels, isPerson } = describedKind(shape.kind);
  const hideHash = isPerson && !shape.withPasswordHash ? SHAPE.hideHash : 0;
  return (alwaysHasChannels ? SHAPE.channels : 0) | hideHash | common;
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

/**
 * The item of one record, as a feed shows it; a numeric `id` is shown as its text. Undefined if the record cannot be
 * delivered as it is. Throws MalformedBsonError.
 */
export function itemText(record: Uint8Array, shape: ItemShape): string | undefined {
  const [item] = [
    ...itemsText(
      renamed(batchOf(record), 0, () => true),
      shape,
    ),
  ];
  return item && Buffer.concat([...item.pieces]).toString();
}

const FIRST_KEY = Buffer.from('0\0', 'latin1');

/** A BSON array with one record. */
export function batchOf(record: Uint8Array): Buffer {
  const before = LENGTH_BYTES + 1 + FIRST_KEY.length;
  const batch = Buffer.alloc(before + record.length + 1);
  batch.writeInt32LE(batch.length);
  batch[LENGTH_BYTES] = BSON_DOCUMENT;
  batch.set(FIRST_KEY, LENGTH_BYTES + 1);
  batch.set(record, before);
  return batch;
}

/** The contents of a raw reply of `find` or `getMore`. */
export interface RawBatch {
  /** The BSON array of documents: a view of the reply, no copy. */
  documents: Uint8Array;
  /** 0 if there are no more documents. */
  cursorId: bigint;
}

/** Parses the `cursor` of a raw reply. Throws MalformedBsonError. */
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
