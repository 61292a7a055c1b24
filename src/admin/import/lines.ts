import { isUtf8 } from 'node:buffer';

/** Bytes of the longest line that is read; a record could not be larger in the database either. */
const LONGEST_LINE = 16 * 1024 * 1024;

const NEWLINE = 0x0a;
const BYTE_ORDER_MARK = '\uFEFF';

/** One line of a file, counted from 1, and its bytes with the break: its text, or why it is none. */
export type Line = { number: number; bytes: number } & ({ text: string } | { fault: string });

/** Cuts bytes into lines, never holding more than one line and one chunk. */
export async function* linesOf(
  source: AsyncIterable<Uint8Array>,
  longest = LONGEST_LINE,
): AsyncGenerator<Line> {
  const line = new LineUnderWay(longest);
  for await (const chunk of source) {
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    let start = 0;
    for (let end = bytes.indexOf(NEWLINE); end !== -1; end = bytes.indexOf(NEWLINE, start)) {
      line.add(bytes.subarray(start, end));
      yield line.end();
      start = end + 1;
    }
    line.add(bytes.subarray(start));
  }
  if (!line.isEmpty) yield line.end();
}

/** What has come of a line so far. The bytes of one that is too long are counted but not kept. */
class LineUnderWay {
  private number = 1;
  private bytes = 0;
  private pieces: Uint8Array[] = [];

  constructor(private readonly longest: number) {}

  get isEmpty(): boolean {
    return this.bytes === 0;
  }

  add(piece: Uint8Array): void {
    this.bytes += piece.length;
    if (this.bytes > this.longest) this.pieces = [];
    else if (piece.length > 0) this.pieces.push(piece);
  }

  /** The line as it is now; the next one begins. */
  end(): Line {
    const { number, bytes, pieces } = this;
    this.number += 1;
    this.bytes = 0;
    this.pieces = [];
    const place = { number, bytes: bytes + 1 };
    if (bytes > this.longest) return { ...place, fault: `is longer than ${this.longest} bytes` };
    const whole = Buffer.concat(pieces);
    if (!isUtf8(whole)) return { ...place, fault: 'is not UTF-8' };
    const text = whole.toString();
    return { ...place, text: number === 1 && text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text };
  }
}
