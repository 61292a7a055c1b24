import { MalformedBsonError } from './bson-reader.js';
import { copyOf } from './output-buffers.js';
import { powersOfTen } from './powers-of-ten.js';
import { rareText } from './rare-values.js';
import { instantiate } from './wasm.js';

const PAGE_BYTES = 0x1_0000;
const ID_BYTES = 12;

/** Texts up to this length fit into the room that the program makes for a rare value, whatever characters they have. */
const SHORT_TEXT = 128;

const program = instantiate({ flush, malformed, rare });
const INPUT = program.INPUT.value;
const OUTPUT = program.OUTPUT.value;
const POWERS = powersOfTen();
new BigUint64Array(program.memory.buffer, program.POWERS.value, POWERS.length).set(POWERS);

/** What a shape of items is made of. */
export const SHAPE = {
  delete: program.DELETE.value,
  product: program.PRODUCT.value,
  hideHash: program.HIDE_HASH.value,
};

/** Bytes of text that are kept at first, and less than one piece more: all that ordinary documents become. */
const KEPT_BYTES = 2 * 1024 * 1024;

/** Ends a transcription of which the rest is not wanted. */
const ENOUGH = new Error('enough');

let memory = Buffer.from(program.memory.buffer);
/** Which part of a text is kept: about so many bytes behind the first pieces. */
interface Part {
  passed: number;
  most: number;
}

const BEGINNING: Part = { passed: 0, most: KEPT_BYTES };

/** The text of the last transcription: how long it is, in bytes and in pieces, and what is kept of it. */
let text = { part: BEGINNING, bytes: 0, pieces: 0, kept: [] as Buffer[], keptBytes: 0 };

/** Items as text, and what is known of them. */
export interface Transcript {
  /** The beginning of the text. */
  pieces: Buffer[];
  /** Whether that is all of it. */
  isWhole: boolean;
  /** Bytes of all of it. */
  bytes: number;
  count: number;
  /** How many records were passed over since their `id` is a number. */
  numbers: number;
  last: string;
}

/** Writes the items of some elements of a BSON array, bits of {@link SHAPE} saying how. Throws MalformedBsonError. */
export function transcribe(elements: Uint8Array, shape: number): Transcript {
  const count = write(elements, shape, BEGINNING);
  const lastId = program.lastId();
  const last = memory.toString('hex', lastId, lastId + ID_BYTES);
  const { bytes, kept } = text;
  const numbers = program.numbers();
  return { pieces: kept, isWhole: text.pieces === kept.length, bytes, count, numbers, last };
}

/**
 * Pieces of the same text behind the first `passed`, about `most` bytes, none where there are no more. What lies before
 * them is written again: a text that is too large to be held costs time instead of memory.
 */
export function piecesBehind(part: Part, elements: Uint8Array, shape: number): Buffer[] {
  try {
    write(elements, shape, part);
  } catch (error) {
    if (error !== ENOUGH) throw error;
  }
  return text.kept;
}

function write(elements: Uint8Array, shape: number, part: Part): number {
  makeRoom(elements.length);
  memory.set(elements, INPUT);
  memory.fill(0, INPUT + elements.length, INPUT + elements.length + program.PADDING.value);
  text = { part, bytes: 0, pieces: 0, kept: [], keptBytes: 0 };
  return program.items(elements.length, shape);
}

function makeRoom(length: number): void {
  const missing = INPUT + length + program.PADDING.value - memory.length;
  if (missing <= 0) return;
  program.memory.grow(Math.ceil(missing / PAGE_BYTES));
  memory = Buffer.from(program.memory.buffer);
}

function flush(end: number): void {
  if (end > OUTPUT) take(memory.subarray(OUTPUT, end), copyOf);
}

function take(piece: Buffer, copy: (piece: Buffer) => Buffer): void {
  text.bytes += piece.length;
  text.pieces += 1;
  if (text.pieces <= text.part.passed) return;
  if (text.keptBytes < text.part.most) {
    text.kept.push(copy(piece));
    text.keptBytes += piece.length;
  } else if (text.part !== BEGINNING) {
    throw ENOUGH;
  }
}

function malformed(): never {
  throw new MalformedBsonError();
}

function rare(type: number, start: number, end: number, position: number): number {
  const value = rareText(type, memory.subarray(start, end));
  if (value.length <= SHORT_TEXT) return position + memory.write(value, position);
  flush(position);
  take(Buffer.from(value), (piece) => piece);
  return OUTPUT;
}
