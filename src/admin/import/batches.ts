import type { GivenRecord } from './record-line.js';

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
