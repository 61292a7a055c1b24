import { MalformedBsonError } from './bson-reader.js';
import { copyOf } from './output-buffers.js';
import { rareText } from './rare-values.js';
import { instantiate } from './wasm.js';

const PAGE_BYTES = 0x1_0000;
const ID_BYTES = 12;

/** Texts up to this length fit into the room that the program makes for a rare value, whatever characters they have. */
const SHORT_TEXT = 128;

const program = instantiate({ flush, malformed, rare });
const INPUT = program.INPUT.value;
const OUTPUT = program.OUTPUT.value;

/** What a shape of items is made of. */
export const SHAPE = {
  delete: program.DELETE.value,
  product: program.PRODUCT.value,
  hideHash: program.HIDE_HASH.value,
};

let memory = Buffer.from(program.memory.buffer);
let pieces: Buffer[] = [];

/** Items as text, and what is known of them. */
export interface Transcript {
  pieces: Buffer[];
  count: number;
  last: string;
}

/** Writes the items of some elements of a BSON array, bits of {@link SHAPE} saying how. Throws MalformedBsonError. */
export function transcribe(elements: Uint8Array, shape: number): Transcript {
  makeRoom(elements.length);
  memory.set(elements, INPUT);
  memory.fill(0, INPUT + elements.length, INPUT + elements.length + program.PADDING.value);
  try {
    const count = program.items(elements.length, shape);
    const lastId = program.lastId();
    return { pieces, count, last: memory.toString('hex', lastId, lastId + ID_BYTES) };
  } finally {
    pieces = [];
  }
}

function makeRoom(length: number): void {
  const missing = INPUT + length + program.PADDING.value - memory.length;
  if (missing <= 0) return;
  program.memory.grow(Math.ceil(missing / PAGE_BYTES));
  memory = Buffer.from(program.memory.buffer);
}

function flush(end: number): void {
  if (end > OUTPUT) pieces.push(copyOf(memory.subarray(OUTPUT, end)));
}

function malformed(): never {
  throw new MalformedBsonError();
}

function rare(type: number, start: number, end: number, position: number): number {
  const text = rareText(type, memory.subarray(start, end));
  if (text.length <= SHORT_TEXT) return position + memory.write(text, position);
  flush(position);
  pieces.push(Buffer.from(text));
  return OUTPUT;
}
