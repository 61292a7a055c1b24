import { flush } from './host';
import { OUTPUT, OUTPUT_END } from './memory';

const COMMA = 0x2c;
const COLON = 0x3a;
const LINE_BREAK = 0x0a;

/** Where the next byte goes. */
export let position: usize = OUTPUT;

export function moveTo(next: usize): void {
  position = next;
}

/** Makes sure that the next `size` bytes fit, far less than the whole area, and a comma or colon behind them. */
export function room(size: usize): void {
  if (position + size >= OUTPUT_END) flushAll();
}

export function flushAll(): void {
  flush(position);
  position = OUTPUT;
}

/** Writes a comma behind something that room was made for. */
export function comma(): void {
  put(COMMA);
}

/** Writes what stands between two items behind something that room was made for. */
export function separator(isLine: bool): void {
  put(isLine ? LINE_BREAK : COMMA);
}

/** Writes a colon behind something that room was made for. */
export function colon(): void {
  put(COLON);
}

/** Writes one character of ASCII, into room made before. */
export function put(character: u32): void {
  store<u8>(position++, character);
}
