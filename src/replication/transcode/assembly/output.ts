import { flush } from './host';

/*
 * The memory from the lowest address: constants and scratch space, the output area, a gap, the input, and zeros after it.
 * Vectors are read and stored 16 bytes at a time, so stores may extend into the gap, and reads into the zeros.
 */

export const OUTPUT: usize = 0x1_0000;
export const OUTPUT_END: usize = OUTPUT + 0x4_0000;

/** The address at which the host stores the input. */
export const INPUT: usize = OUTPUT_END + 0x100;

/** The number of zero bytes that the host stores after the input, so that no part of an earlier input is ever read. */
export const PADDING: usize = 16;

const COMMA = 0x2c;
const COLON = 0x3a;
const LINE_BREAK = 0x0a;

/** The position of the next byte. */
export let position: usize = OUTPUT;

export function moveTo(next: usize): void {
  position = next;
}

/**
 * Ensures that the next `size` bytes fit, and a comma or colon after them. `size` must be far smaller than the area.
 */
export function room(size: usize): void {
  if (position + size >= OUTPUT_END) flushAll();
}

export function flushAll(): void {
  flush(position);
  position = OUTPUT;
}

/** Writes a comma after output for which room was made. */
export function comma(): void {
  put(COMMA);
}

/** Writes the separator between two items, after output for which room was made. */
export function separator(isLine: bool): void {
  put(isLine ? LINE_BREAK : COMMA);
}

/** Writes a colon after output for which room was made. */
export function colon(): void {
  put(COLON);
}

/** Writes one ASCII character. The caller must have made room for it. */
export function put(character: u32): void {
  store<u8>(position++, character);
}
