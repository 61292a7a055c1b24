import { channelsOf, jsonText, valueForJson } from '../../record/index.js';
import { MalformedBsonError } from './bson-reader.js';
import { type FieldMask, type HashKeyBytes, hashText } from './field-mask.js';
import type { Host, Program } from './wasm.js';

/** Bytes of a buffer: the maximum that the program writes before it passes its text on. */
const BUFFER_BYTES = 256 * 1024;
/** A text shorter than this is copied into memory of its own, because it would leave most of a buffer empty. */
const LEAST_BYTES = BUFFER_BYTES / 2;
/** The greatest number of buffers kept for reuse: those of about eight pages of a megabyte. */
const MOST_FREE = 32;

const free: Buffer[] = [];
const lent = new WeakSet<Buffer>();

/**
 * A copy of a text of at most a buffer's length. The caller may keep it, or return it with {@link giveBack}. Reused
 * memory is cheaper to write to than new memory, and needs no garbage collection.
 */
export function copyOf(text: Uint8Array): Buffer {
  if (text.length < LEAST_BYTES) return Buffer.from(text);
  const buffer = free.pop() ?? Buffer.allocUnsafeSlow(BUFFER_BYTES);
  buffer.set(text);
  const copy = buffer.subarray(0, text.length);
  lent.add(copy);
  return copy;
}

/** Takes back a copy that is no longer read. Ignores other pieces, and a copy that was already returned. */
export function giveBack(piece: Buffer): void {
  if (lent.delete(piece) && free.length < MOST_FREE) free.push(Buffer.from(piece.buffer));
}

const LEAST = -292;
const GREATEST = 324;
const BITS = 128;
const HALF = 64n;
const LOWER_HALF = (1n << HALF) - 1n;

/**
 * The powers of ten from 10^-292 to 10^324 with which the program writes doubles. Each is given by its first 128 bits,
 * rounded up, in two halves, the upper one first.
 */
export function powersOfTen(): BigUint64Array<ArrayBuffer> {
  const halves: bigint[] = [];
  for (let exponent = LEAST; exponent <= GREATEST; exponent += 1) {
    const power = firstBits(exponent);
    halves.push(power >> HALF, power & LOWER_HALF);
  }
  return new BigUint64Array(halves);
}

function firstBits(exponent: number): bigint {
  const cut = floorLog2Pow10(exponent) - (BITS - 1);
  const [numerator, divisor] = [10n ** BigInt(Math.max(0, exponent)), 10n ** BigInt(Math.max(0, -exponent))];
  return cut > 0
    ? dividedUp(numerator, divisor << BigInt(cut))
    : dividedUp(numerator << BigInt(-cut), divisor);
}

function dividedUp(numerator: bigint, divisor: bigint): bigint {
  return (numerator + divisor - 1n) / divisor;
}

/** The greatest `n` with 2^n at most 10^exponent. */
function floorLog2Pow10(exponent: number): number {
  return (exponent * 1_741_647) >> 19;
}

/**
 * How the program writes items: flag bits, the `type` of records that store none, and the mask of the shown fields
 * unless all are shown.
 */
export interface Shape {
  bits: number;
  kind: string;
  mask?: FieldMask | undefined;
}

/** Bytes of the longest name of a kind. */
const LONGEST_KIND = 32;
const PAGE_BYTES = 0x1_0000;
const ID_BYTES = 12;
const POWERS = powersOfTen();

/**
 * Texts up to this length fit into the room that the program reserves for a rare value, regardless of their characters.
 */
const SHORT_TEXT = 128;

/**
 * A program with its memory. Elements of a BSON array are copied into it, and their items are taken out piece by piece.
 */
export abstract class Writer<P extends Program = Program> {
  readonly program: P;
  protected memory: Buffer;
  private readonly input: number;
  private readonly output: number;
  private hashKey: HashKeyBytes | undefined;

  constructor(instantiate: (host: Host) => P) {
    this.program = instantiate({
      flush: (end) => this.flush(end),
      malformed,
      rare: (type, start, end, position) => this.rare(type, start, end, position),
      hashed: (type, start, end, position) => this.hashed(type, start, end, position),
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

  /** Takes a piece of the text. The piece is valid only during the call; `copy` returns a lasting copy. */
  protected abstract take(piece: Buffer, copy: (piece: Buffer) => Buffer): void;

  /**
   * Copies elements and the mask to the program's memory. Returns the address of the mask, 0 if there is none, and the
   * start of memory that the program does not use, at least `more` bytes.
   */
  protected load(elements: Uint8Array, { kind, mask }: Shape, more = 0): { mask: number; free: number } {
    const end = this.input + elements.length;
    const start = aligned(end + this.program.PADDING.value);
    const free = aligned(start + (mask?.bytes.length ?? 0));
    this.makeRoom(free + more);
    this.memory.set(elements, this.input);
    this.memory.fill(0, end, start);
    if (mask !== undefined) this.memory.set(mask.bytes, start);
    this.hashKey = mask?.key;
    const place = this.program.KIND.value;
    this.memory[place + LONGEST_KIND] = this.memory.write(kind, place, LONGEST_KIND);
    return { mask: mask === undefined ? 0 : start, free };
  }

  /** Called by the program when its output area, up to `end`, is full, or when everything is written. */
  protected flush(end: number): void {
    this.takeOutput(end);
  }

  private rare(type: number, start: number, end: number, position: number): number {
    const value = jsonText(valueForJson(type, this.memory.subarray(start, end)));
    if (value.length <= SHORT_TEXT) return position + this.memory.write(value, position);
    this.takeOutput(position);
    this.take(Buffer.from(value), (piece) => piece);
    return this.output;
  }

  /** Throws if there is no key, so that no value is ever shown in place of its hash. */
  private hashed(type: number, start: number, end: number, position: number): number {
    if (this.hashKey === undefined) throw new Error('A hash needs a key');
    const { value: ofChannels } = this.program.OF_CHANNELS;
    const stored = type & ~ofChannels;
    const value = stored === 0 ? undefined : valueForJson(stored, this.memory.subarray(start, end));
    const shown = (type & ofChannels) === 0 ? value : (channelsOf(value) ?? []);
    return position + this.memory.write(hashText(this.hashKey, shown), position);
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

/** Rounds an address up to a multiple of four, so that the program can read whole words. */
function aligned(address: number): number {
  return (address + 3) & ~3;
}

function malformed(): never {
  throw new MalformedBsonError();
}
