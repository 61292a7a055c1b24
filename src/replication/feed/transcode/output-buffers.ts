/** Bytes of a buffer: as many as the program writes before it gives its text away. */
const BUFFER_BYTES = 256 * 1024;
/** Shorter texts would leave most of a buffer empty. */
const LEAST_BYTES = BUFFER_BYTES / 2;
/** How many buffers wait to be used again: those of about eight pages of a megabyte. */
const MOST_FREE = 32;

const free: Buffer[] = [];
const lent = new WeakSet<Buffer>();

/**
 * A copy of a text of at most a buffer's length. It is the caller's, who may keep it or give it back: memory that was just
 * in use costs less to write to than new memory, and is no garbage in between.
 */
export function copyOf(text: Uint8Array): Buffer {
  if (text.length < LEAST_BYTES) return Buffer.from(text);
  const buffer = free.pop() ?? Buffer.allocUnsafeSlow(BUFFER_BYTES);
  buffer.set(text);
  const copy = buffer.subarray(0, text.length);
  lent.add(copy);
  return copy;
}

/** Takes back a copy that is no longer read. Ignores other pieces, and one that was already given back. */
export function giveBack(piece: Buffer): void {
  if (lent.delete(piece) && free.length < MOST_FREE) free.push(Buffer.from(piece.buffer));
}
