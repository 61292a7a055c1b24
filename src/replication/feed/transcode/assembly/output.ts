import { flush } from './host';
import { OUTPUT, OUTPUT_END } from './memory';

const COMMA = 0x2c;
const COLON = 0x3a;

/** Where the next byte goes. */
export let position: usize = OUTPUT;

export function moveTo(next: usize): void {
  position = next;
}

/** Makes sure that the next `size` bytes fit; far less than the whole area. */
export function room(size: usize): void {
  if (position + size > OUTPUT_END) flushAll();
}

export function flushAll(): void {
  flush(position);
  position = OUTPUT;
}

export function comma(): void {
  room(1);
  put(COMMA);
}

export function colon(): void {
  room(1);
  put(COLON);
}

/** Writes one character of ASCII, into room made before. */
export function put(character: u32): void {
  store<u8>(position++, character);
}
