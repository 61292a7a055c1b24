import { giveBack } from './output-buffers.js';
import { instantiate } from './wasm.js';
import { Writer } from './writer.js';

/** Bytes of text that are held at once: more than all that ordinary documents become. */
const MOST_BYTES = 2 * 1024 * 1024;

/** Items as text, and what is known of them. */
export interface Transcript {
  /** The text, unless it is too large to be held. */
  pieces: Buffer[] | undefined;
  /** Bytes of the text. */
  bytes: number;
  count: number;
  /** How many records were passed over since their `id` is a number. */
  numbers: number;
  last: string;
}

class Transcriber extends Writer {
  private pieces: Buffer[] | undefined = [];
  private bytes = 0;

  transcribe(elements: Uint8Array, shape: number): Transcript {
    this.load(elements);
    [this.pieces, this.bytes] = [[], 0];
    const count = this.program.items(elements.length, shape);
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
const { DELETE, PRODUCT, HIDE_HASH, CHANGE, GONE, LINES } = transcriber.program;

/** What a shape of items is made of. */
export const SHAPE = {
  delete: DELETE.value,
  product: PRODUCT.value,
  hideHash: HIDE_HASH.value,
  change: CHANGE.value,
  gone: GONE.value,
  lines: LINES.value,
};

/** Writes the items of some elements of a BSON array, bits of {@link SHAPE} saying how. Throws MalformedBsonError. */
export function transcribe(elements: Uint8Array, shape: number): Transcript {
  return transcriber.transcribe(elements, shape);
}
