import type { FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import type {
  AppliedPage,
  CopyState,
  CopyStore,
  HeldRecord,
  Mended,
  ToldChange,
} from '../../harvest/index.js';
import { compact, syncFolderOf } from './compact.js';
import { heldLines, type Log } from './held-lines.js';
import { lastCommit, type LastCommit } from './last-commit.js';
import { committed, FIRST_LINE, itemLine, type ItemLine } from './lines.js';
import { LogFile } from './log-file.js';
import { removeFolder, removeLeftovers, workFolder } from './work-folder.js';

const SPARE = 1 << 20;

/**
 * A copy in a file of lines: what was told, page by page, each page ended by a line `{"op":"state",…}`. The last line of
 * an `id` holds. Whenever a window has ended and the file has doubled, it is written anew with one line for each record.
 */
export class NdjsonStore implements CopyStore {
  private constructor(
    private readonly file: LogFile,
    private last: LastCommit | undefined,
    private readonly spare: number,
  ) {}

  /**
   * Opens a file, and makes it where it is not there. What was not written to its end counts for nothing, and is cut off by
   * the first page. `spare`: bytes that the file may grow by before it is written anew; it may double in any case.
   */
  static async open(path: string, spare = SPARE): Promise<NdjsonStore> {
    const file = await LogFile.open(path);
    const { handle, size } = file;
    await removeLeftovers(file.path);
    const last = await lastCommit(handle, size);
    if (last === undefined && !(await isBegun(handle, size))) {
      await file.close();
      throw new RangeError(`${path} is there already and holds something else. Give another file.`);
    }
    return new NdjsonStore(file, last, spare);
  }

  state(): Promise<CopyState | undefined> {
    return Promise.resolve(this.last?.state);
  }

  /** Records and state are in one file: where there is no state, there are none. */
  newestGeneration(): Promise<number | undefined> {
    return Promise.resolve(this.last?.state?.generation);
  }

  async apply({ changes, state }: AppliedPage): Promise<void> {
    const { generation } = state;
    await this.append(changes.map((change) => itemLine(marked(change, generation))).join(''), state);
    if (!state.isWithin && state.phase === 'following') await this.compactLarge(state);
  }

  async sweep(state: CopyState): Promise<number> {
    await this.append(itemLine({ op: 'sweep', generation: state.generation }), state);
    return this.compacted(state);
  }

  /** Reads the whole file: it has no index. No delete is refused here, so a harvest does not ask. */
  async has(id: string): Promise<boolean> {
    for await (const batch of this.held()) if (batch.some((one) => one.id === id)) return true;
    return false;
  }

  /** Only reads: what another process writes meanwhile does not matter to it, nor it to that one. */
  async *held(): AsyncIterable<HeldRecord[]> {
    if (this.last?.state === undefined) return;
    for await (const fold of heldLines(this.log(), stampOnly))
      yield Array.from(fold.held(), (text) => {
        const { id, lastupdated, generation } = JSON.parse(text) as HeldRecord;
        return { id, lastupdated, generation };
      });
  }

  /** A file takes every line that a text can hold, one at least where not a whole page. */
  isUnfit(error: unknown): boolean {
    return error instanceof RangeError;
  }

  async mend({ upserts, removed, state }: Mended): Promise<void> {
    const ids = [...removed, ...upserts.map(({ id }) => id)];
    const lines = [
      ...ids.map((id) => itemLine({ op: 'remove', id })),
      ...upserts.map((upsert) => itemLine(marked(upsert, state.generation))),
    ];
    await this.append(lines.join(''), state);
  }

  close(): Promise<void> {
    return this.file.close();
  }

  private log(): Log {
    const { path, handle } = this.file;
    return { path, file: handle, end: this.last!.end };
  }

  private async append(lines: string, state: CopyState): Promise<void> {
    const { end = 0, compacted = 0 } = this.last ?? {};
    const page = committed(lines, state, compacted);
    const bytes = end === 0 ? Buffer.concat([Buffer.from(FIRST_LINE), page]) : page;
    await this.file.append(bytes, end);
    this.last = { state, compacted, end: end + bytes.length };
  }

  private async compactLarge(state: CopyState): Promise<void> {
    const { end, compacted } = this.last!;
    if (compacted === 0 && state.generation === 1) this.last = { state, compacted: end, end };
    else if (end > 2 * compacted + this.spare) await this.compacted(state);
  }

  /** Answers how many records the last sweep has removed. */
  private async compacted(state: CopyState): Promise<number> {
    const { path } = this.file;
    const { end } = this.last!;
    const folder = await workFolder(path);
    let swept: number;
    try {
      const target = join(folder, 'whole');
      const { swept: removed, ...anew } = await compact(this.log(), state, target);
      swept = removed;
      // Where the longer file stays, it holds the same, and is written anew when it has doubled once more.
      const isReplaced = await this.file.replaceBy(target);
      this.last = isReplaced ? { state, ...anew } : { state, compacted: end, end };
    } finally {
      await removeFolder(folder);
    }
    await syncFolderOf(path);
    return swept;
  }
}

function marked(change: ToldChange, generation: number): ItemLine {
  return change.op === 'upsert' ? { ...change, generation } : change;
}

function stampOnly(line: ItemLine, text: string): string {
  if (line.op !== 'upsert') return text;
  const { op, id, lastupdated, generation = 0 } = line;
  return JSON.stringify({ op, id, lastupdated, generation });
}

/** A file without a commit is ours where it holds nothing, or no more than a piece of the first line. */
async function isBegun(file: FileHandle, size: number): Promise<boolean> {
  if (size >= FIRST_LINE.length) return false;
  const { buffer, bytesRead } = await file.read(Buffer.alloc(size), 0, size, 0);
  return FIRST_LINE.startsWith(buffer.toString('latin1', 0, bytesRead));
}
