import { Buffer } from 'node:buffer';

/**
 * BSON written byte by byte, so that tests can also write what no driver would. `Buffer` is imported, since Jest looks a
 * global up in its sandbox each time.
 */

/** A value of BSON: its type, and what follows the key. */
export interface Value {
  type: number;
  bytes: Buffer;
}

export type Key = string | Buffer;

export function int32(number: number): Value {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32LE(number);
  return { type: 0x10, bytes };
}

export function int64(number: bigint, type = 0x12): Value {
  const bytes = Buffer.alloc(8);
  bytes.writeBigInt64LE(BigInt.asIntN(64, number));
  return { type, bytes };
}

export function date(milliseconds: number | bigint): Value {
  return int64(BigInt(milliseconds), 0x09);
}

export function double(number: number): Value {
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleLE(number);
  return { type: 0x01, bytes };
}

export function text(characters: string | Buffer, type = 0x02): Value {
  const body = Buffer.concat([Buffer.from(characters as string), Buffer.of(0)]);
  return { type, bytes: Buffer.concat([int32(body.length).bytes, body]) };
}

export function binary(bytes: Uint8Array, subtype = 0): Value {
  return { type: 0x05, bytes: Buffer.concat([int32(bytes.length).bytes, Buffer.of(subtype), bytes]) };
}

export function objectId(hex: string): Value {
  return { type: 0x07, bytes: Buffer.from(hex, 'hex') };
}

export function boolean(byte: number): Value {
  return { type: 0x08, bytes: Buffer.of(byte) };
}

/** A value that is its type alone, such as null. */
export function bare(type: number): Value {
  return { type, bytes: Buffer.alloc(0) };
}

export const NULL = bare(0x0a);

export function regExp(pattern: string, options: string): Value {
  return { type: 0x0b, bytes: Buffer.from(`${pattern}\0${options}\0`) };
}

export function document(elements: readonly (readonly [Key, Value])[], type = 0x03): Value {
  const inner = elements.flatMap(([key, value]) => [
    Buffer.of(value.type),
    Buffer.from(key as string),
    Buffer.of(0),
    value.bytes,
  ]);
  const length = inner.reduce((sum, { length }) => sum + length, 5);
  return { type, bytes: Buffer.concat([int32(length).bytes, ...inner, Buffer.of(0)]) };
}

export function list(values: readonly Value[]): Value {
  return document(
    values.map((value, index) => [String(index), value] as const),
    0x04,
  );
}

/** A batch as a reply of `find` has it. */
export function batch(...documents: readonly Value[]): Buffer {
  return list(documents).bytes;
}
