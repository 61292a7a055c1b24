import type { FileHandle } from 'node:fs/promises';

const PIECE = 1 << 17;
const BREAK = 0x0a;

/** The lines of the first bytes of a file, some at a time. Only a line break ends one: JSON may hold other separators. */
export async function* linesOf(file: FileHandle, end: number): AsyncIterable<string[]> {
  let begun: Buffer[] = [];
  for (let at = 0; at < end;) {
    const { buffer, bytesRead } = await file.read(
      Buffer.allocUnsafe(Math.min(PIECE, end - at)),
      ...([0, undefined, at] as const),
    );
    if (bytesRead === 0) throw new Error(`A file of ${end} bytes ended behind ${at}.`);
    at += bytesRead;
    const piece = buffer.subarray(0, bytesRead);
    const last = piece.lastIndexOf(BREAK);
    if (last === -1) {
      begun.push(piece);
      continue;
    }
    begun.push(piece.subarray(0, last));
    yield Buffer.concat(begun).toString().split('\n');
    begun = [piece.subarray(last + 1)];
  }
}
