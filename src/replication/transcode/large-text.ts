import { instantiatePausing, type PausingProgram } from './wasm.js';
import { type Shape, Writer } from './writer.js';

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
 * The items of some elements of a BSON array, as `transcribe` writes them, for a text that is too large to be held. It is
 * written in a single run, as far as it is consumed, by a program instance of its own that holds the elements and pauses at
 * each piece. Throws MalformedBsonError.
 */
export function largeText(elements: Uint8Array, shape: Shape): Generator<Buffer, void> {
  return new PausingWriter(instantiatePausing).write(elements, shape);
}
