import { createReadStream } from 'node:fs';

const BREAK = 0x0a;

/** The lines of the first bytes of a file, some at a time. Only a line break ends one: JSON may hold other separators. */
export async function* linesOf(path: string, end = Infinity): AsyncIterable<string[]> {
  if (end === 0) return;
  const input = createReadStream(path, end === Infinity ? {} : { end: end - 1 });
  let begun: Buffer[] = [];
  for await (const piece of input as AsyncIterable<Buffer>) {
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
