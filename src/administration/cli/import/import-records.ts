import type { mongo } from 'mongoose';
import cliProgress from 'cli-progress';
import type { Kind } from '../../../kinds/index.js';
import type { Tenant } from '../../../record/index.js';
import {
  batchesOf,
  type Line,
  linesOf,
  readAhead,
  type RecordLine,
  type BadLine,
  parseRecordLine,
} from './lines.js';
import { Mirror, type RecordSink } from './record-sink.js';
import { RecordJudge } from './record-judge.js';
import { RecordWriter } from './record-writer.js';
import { count } from '../../../platform/common/index.js';

interface ImportOptions {
  /** NDJSON in UTF-8. */
  source: AsyncIterable<Uint8Array>;
  tenant: Tenant;
  kind: Kind;
  /** `createdBy` of new records whose line has none. */
  createdBy?: string;
  /** Remove the records that are not in the file, if every line was good and the file has not changed. */
  mirror?: boolean;
  /**
   * The number of lines, without blank ones, that the mirror requires before it removes anything. Only this shows that
   * a pipe was complete: a program that fails after a whole line ends its output like one that has finished.
   */
  expected?: number | undefined;
  /** Whether another program has written to the source while it was read. */
  hasChanged?: () => Promise<boolean>;
  /** Stop at the first bad line. */
  strict?: boolean;
  /** Write nothing, and report what would be done. Requires the indexes, like a real import. */
  dryRun?: boolean;
  /** Aborted to end early; what is written stays. */
  stop?: AbortSignal;
  onBadLine?: (number: number, reason: string) => void;
  /** Called after each batch with the number of its last line, and with the number of bytes read so far. */
  onProgress?: (lines: number, bytes: number) => void;
  /** Called after each batch with the numbers of its created, changed and removed records. */
  onWritten?: (outcome: Written) => void;
}

interface Written {
  created: number;
  changed: number;
  removed: number;
}

const AGAIN = '. Import it again: records that are imported already are not changed';

/**
 * The result of an import. `lines` is the number of processed lines, without blank ones. Each counts as one of
 * `created`, `changed`, `unchanged` and `bad`.
 */
export interface ImportSummary {
  lines: number;
  created: number;
  changed: number;
  unchanged: number;
  bad: number;
  /** Only with `mirror`, and only if the file was read completely, has no bad line, has a record, and has not changed. */
  removed?: number;
  /** Why the file was not read to its end, or why the mirror has not removed everything. */
  incomplete?: string;
  /** Only for a dry run. The counts then state what an import would do; `first` has the first ids of each sort. */
  dryRun?: { first: { created: string[]; changed: string[] } };
}

/**
 * Upserts the records of an NDJSON file by `id` (contract §5), in constant memory. `lastupdated` comes from the database's
 * clock; a record that is already equal is not changed. Requires the indexes.
 */
export function importRecords(db: mongo.Db, options: ImportOptions): Promise<ImportSummary> {
  return new ImportRun(db, options).toEnd();
}

class ImportRun {
  private readonly sink: RecordSink;
  private readonly judge: RecordJudge | undefined;
  private readonly mirror: Mirror | undefined;
  private readonly done = { written: 0, created: 0, changed: 0, bad: 0 };
  private read = { lines: 0, bytes: 0 };
  private incomplete: string | undefined;
  private isHinted = false;

  constructor(
    db: mongo.Db,
    private readonly options: ImportOptions,
  ) {
    const { tenant, kind, createdBy = 'import', dryRun = false } = options;
    this.judge = dryRun ? new RecordJudge(db, tenant, kind) : undefined;
    this.sink = this.judge ?? new RecordWriter(db, tenant, kind, createdBy);
    this.mirror = options.mirror === true && !dryRun ? new Mirror(db, tenant, kind) : undefined;
  }

  /** What to do if reading fails. A dry run has imported nothing. */
  private get advice(): string {
    return this.judge === undefined ? AGAIN : '';
  }

  async toEnd(): Promise<ImportSummary> {
    try {
      for await (const batch of readAhead(batchesOf(this.goodLines()))) {
        const isRefused = await this.write(batch);
        this.options.onProgress?.(batch.at(-1)?.number ?? 0, this.read.bytes);
        if (isRefused && this.options.strict === true) break;
      }
      return this.summary(await this.removeUnseen());
    } finally {
      await this.mirror?.close();
    }
  }

  private async *goodLines(): AsyncGenerator<RecordLine> {
    for await (const line of this.lines()) {
      this.read = { lines: line.number, bytes: this.read.bytes + line.bytes };
      if ('text' in line && line.text.trim() === '') continue;
      const record = 'text' in line ? parseRecordLine(this.options.kind, line.text) : { error: line.fault };
      if ('error' in record) this.bad(line.number, this.hinted(record));
      else yield { number: line.number, bytes: line.bytes, record: record.value };
      if (this.incomplete !== undefined) return;
    }
  }

  /** Adds the hint only to the first line that has one: in a file of the wrong kind, thousands of lines have it. */
  private hinted({ error, hint }: BadLine): string {
    if (hint === undefined || this.isHinted) return error;
    this.isHinted = true;
    return `${error}: ${hint}`;
  }

  private async *lines(): AsyncGenerator<Line> {
    const { source, stop } = this.options;
    try {
      for await (const line of linesOf(source)) {
        stop?.throwIfAborted();
        yield line;
      }
    } catch (error) {
      const { lines } = this.read;
      if (stop?.aborted === true) this.incomplete = `interrupted after line ${lines}`;
      else this.incomplete = `reading failed after line ${lines}: ${(error as Error).message}${this.advice}`;
    }
  }

  /** Returns whether a line was refused. If reading ended early, the good lines before that place are still written. */
  private async write(batch: RecordLine[]): Promise<boolean> {
    const { created, changed, refused } = await this.sink.write(batch);
    await this.mirror?.see(batch);
    this.options.onWritten?.({ created, changed, removed: 0 });
    this.done.written += batch.length - refused.length;
    this.done.created += created;
    this.done.changed += changed;
    for (const { number, reason } of refused) this.bad(number, reason);
    // Bad lines that were read ahead come after these.
    if (refused.length > 0 && this.options.strict === true)
      this.incomplete = stoppedAt(Math.min(...refused.map(({ number }) => number)));
    return refused.length > 0;
  }

  private bad(number: number, reason: string): void {
    this.done.bad += 1;
    this.options.onBadLine?.(number, reason);
    if (this.options.strict === true) this.incomplete ??= stoppedAt(number);
  }

  /**
   * Removes the records that are not in the file; in a dry run, only counts them. They are known only if the file was
   * read completely, has no bad line, and has not changed. A file without records removes nothing.
   */
  private async removeUnseen(): Promise<number | undefined> {
    if (this.options.mirror !== true || this.incomplete !== undefined) return undefined;
    if (this.options.stop?.aborted === true) {
      this.incomplete = this.judge === undefined ? 'interrupted; nothing was removed' : 'interrupted';
      return undefined;
    }
    const why = await this.doubt();
    if (why === undefined) return this.judge?.unseen() ?? this.removeFrom(this.mirror!);
    this.incomplete = `nothing ${this.judge === undefined ? 'was' : 'would be'} removed, since ${why}`;
    return undefined;
  }

  /** Why the records that are not in the file are not known. */
  private async doubt(): Promise<string | undefined> {
    if (this.done.bad > 0) return 'there are bad lines';
    if (this.done.written === 0) return 'the file has no record';
    const { expected = this.done.written } = this.options;
    if (this.done.written !== expected)
      return `the input has ${count(this.done.written)} ${this.done.written === 1 ? 'line' : 'lines'} instead of ${count(expected)}`;
    const hasChanged = await this.options.hasChanged?.();
    return hasChanged === true ? 'the file has changed while it was read' : undefined;
  }

  private async removeFrom(mirror: Mirror): Promise<number> {
    let sum = 0;
    const onRemoved = (removed: number) => {
      sum += removed;
      this.options.onWritten?.({ created: 0, changed: 0, removed });
    };
    const isComplete = await mirror.removeUnseen(onRemoved, this.options.stop);
    if (!isComplete) this.incomplete = 'interrupted before all records that are not in the file were removed';
    return sum;
  }

  private summary(removed: number | undefined): ImportSummary {
    const { written, created, changed, bad } = this.done;
    return {
      ...{ lines: written + bad, created, changed, unchanged: written - created - changed, bad },
      ...(removed !== undefined && { removed }),
      ...(this.incomplete !== undefined && { incomplete: this.incomplete }),
      ...(this.judge !== undefined && { dryRun: { first: this.judge.first } }),
    };
  }
}

function stoppedAt(line: number): string {
  return `stopped at line ${line}`;
}

/** The stream on which progress is shown. */
interface ProgressStream {
  write(text: string): unknown;
  isTTY?: boolean | undefined;
}

interface ImportProgress {
  /**
   * Shows the number of finished items, and their amount in the unit of the total: bytes for a file, otherwise items.
   */
  at(done: number, amount: number): void;
  /** Writes a separate line. */
  note(text: string): void;
  end(): void;
}

const LINE_EVERY_MS = 5000;
const CLEAR_LINE = '\r\u001b[K';

/**
 * Shows a bar on a terminal. Otherwise writes a line every few seconds, but none for machines. Without `total`, shows
 * only the number of finished items. `unit` names the items.
 */
export function progressOn(
  stream: ProgressStream,
  total: number | undefined,
  unit = 'lines',
  isForMachines = false,
): ImportProgress {
  if (stream.isTTY === true) return bar(stream, total, unit);
  const lines = plainLines(stream, total, unit);
  return isForMachines ? { ...lines, at: () => undefined } : lines;
}

function bar(stream: ProgressStream, total: number | undefined, unit: string): ImportProgress {
  const format =
    total === undefined ? `{done} ${unit}` : `{bar} {percentage} % | {done} ${unit} | {eta_formatted} left`;
  const shown = new cliProgress.SingleBar(
    {
      format,
      stream: stream as NodeJS.WritableStream,
      hideCursor: true,
      clearOnComplete: false,
      etaBuffer: 100,
    },
    cliProgress.Presets.shades_classic,
  );
  shown.start(total ?? 0, 0, { done: '0' });
  return {
    at: (done, amount) => shown.update(amount, { done: count(done) }),
    note: (text) => stream.write(`${CLEAR_LINE}${text}\n`),
    end: () => shown.stop(),
  };
}

function plainLines(stream: ProgressStream, total: number | undefined, unit: string): ImportProgress {
  let reportedAt = Date.now();
  return {
    at(done, amount) {
      if (Date.now() - reportedAt < LINE_EVERY_MS) return;
      reportedAt = Date.now();
      // A file may grow while it is read.
      const share =
        total === undefined ? '' : ` (${Math.floor((100 * Math.min(amount, total)) / Math.max(total, 1))} %)`;
      stream.write(`${count(done)} ${unit} done${share}\n`);
    },
    note: (text) => stream.write(`${text}\n`),
    end: () => undefined,
  };
}
