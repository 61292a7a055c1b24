import { isUtf8 } from 'node:buffer';
import type { GivenRecord } from './record-line.js';

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

/** A record of the file with the number of its line. */
export interface RecordLine {
  number: number;
  /** Of the line. */
  bytes: number;
  record: GivenRecord;
}

const MOST_LINES = 1000;
/** Of JSON; BSON may take several times as much, and one command holds 16 MiB. */
const MOST_BYTES = 2 * 1024 * 1024;

/** Groups lines for one write each. No `id` comes twice in a batch, so that of two lines the later one wins. */
export async function* batchesOf(lines: AsyncIterable<RecordLine>): AsyncGenerator<RecordLine[]> {
  let batch: RecordLine[] = [];
  let ids = new Set<string>();
  let bytes = 0;
  for await (const line of lines) {
    const full = batch.length >= MOST_LINES || bytes + line.bytes > MOST_BYTES || ids.has(line.record.id);
    if (full && batch.length > 0) {
      yield batch;
      batch = [];
      ids = new Set();
      bytes = 0;
    }
    batch.push(line);
    ids.add(line.record.id);
    bytes += line.bytes;
  }
  if (batch.length > 0) yield batch;
}

/** The same items, each asked for while the one before is worked on. */
export async function* readAhead<T>(source: AsyncGenerator<T>): AsyncGenerator<T> {
  let coming = source.next();
  try {
    for (;;) {
      const arrived = await coming;
      if (arrived.done === true) return;
      coming = source.next();
      coming.catch(() => undefined);
      yield arrived.value;
    }
  } finally {
    source.return(undefined).catch(() => undefined);
  }
}
