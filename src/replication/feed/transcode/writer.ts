import { MalformedBsonError } from './bson-reader.js';
import { copyOf } from './output-buffers.js';
import { powersOfTen } from './powers-of-ten.js';
import { rareText } from './rare-values.js';
import type { Host, Program } from './wasm.js';

const PAGE_BYTES = 0x1_0000;
const ID_BYTES = 12;
const POWERS = powersOfTen();

/** Texts up to this length fit into the room that the program makes for a rare value, whatever characters they have. */
const SHORT_TEXT = 128;

/** A program with its memory: elements of a BSON array are put into it, and their items are taken from it piece by piece. */
export abstract class Writer<P extends Program = Program> {
  readonly program: P;
  protected memory: Buffer;
  private readonly input: number;
  private readonly output: number;

  constructor(instantiate: (host: Host) => P) {
    this.program = instantiate({
      flush: (end) => this.flush(end),
      malformed,
      rare: (type, start, end, position) => this.rare(type, start, end, position),
    });
    const { memory, INPUT, OUTPUT, POWERS: powers } = this.program;
    this.memory = Buffer.from(memory.buffer);
    this.input = INPUT.value;
    this.output = OUTPUT.value;
    new BigUint64Array(memory.buffer, powers.value, POWERS.length).set(POWERS);
  }

  /** The `_id` of the last item, 24 hexadecimal digits. */
  get lastId(): string {
    const start = this.program.lastId();
    return this.memory.toString('hex', start, start + ID_BYTES);
  }

  /** Takes a piece of the text, which is there only now; `copy` makes one that lasts. */
  protected abstract take(piece: Buffer, copy: (piece: Buffer) => Buffer): void;

  /** Puts elements where the program reads them. Returns where memory begins that it does not use, of `more` bytes. */
  protected load(elements: Uint8Array, more = 0): number {
    const end = this.input + elements.length;
    const free = end + this.program.PADDING.value;
    this.makeRoom(free + more);
    this.memory.set(elements, this.input);
    this.memory.fill(0, end, free);
    return free;
  }

  /** Called by the program where its output area, up to `end`, is full or all is written. */
  protected flush(end: number): void {
    this.takeOutput(end);
  }

  private rare(type: number, start: number, end: number, position: number): number {
    const value = rareText(type, this.memory.subarray(start, end));
    if (value.length <= SHORT_TEXT) return position + this.memory.write(value, position);
    this.takeOutput(position);
    this.take(Buffer.from(value), (piece) => piece);
    return this.output;
  }

  private takeOutput(end: number): void {
    if (end > this.output) this.take(this.memory.subarray(this.output, end), copyOf);
  }

  private makeRoom(length: number): void {
    const missing = length - this.memory.length;
    if (missing <= 0) return;
    this.program.memory.grow(Math.ceil(missing / PAGE_BYTES));
    this.memory = Buffer.from(this.program.memory.buffer);
  }
}

function malformed(): never {
  throw new MalformedBsonError();
}
