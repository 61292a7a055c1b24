import { type FileHandle, open, rm, stat } from 'node:fs/promises';
import {
  type AppliedPage,
  type CopyState,
  type CopyStore,
  CopyTakenError,
  type HeldStamp,
  type Mended,
  type ToldChange,
} from '../../harvest/index.js';
import { compact, partsOf } from './compact.js';
import { lastCommit, type LastCommit } from './last-commit.js';
import { committed, FIRST_LINE, itemLine, type ItemLine } from './lines.js';
import { linesOf } from './text-lines.js';

const SPARE = 1 << 20;

/**
 * A copy in a file of lines: what was told, page by page, each page ended by a line `{"op":"state",…}`. The last line of
 * an `id` holds. Whenever a window has ended and the file has doubled, it is written anew with one line for each record.
 */
export class NdjsonStore implements CopyStore {
  /** Whether each record is known to stand in the file once. */
  private isCompact = false;

  private constructor(
    private readonly path: string,
    private file: FileHandle,
    private last: LastCommit | undefined,
    private readonly spare: number,
  ) {}

  /**
   * Opens a file, and makes it where it is not there. What was not written to its end is cut off. `spare`: bytes that the
   * file may grow by before it is written anew; it may double in any case.
   */
  static async open(path: string, spare = SPARE): Promise<NdjsonStore> {
    await rm(partsOf(path), { recursive: true, force: true });
    const file = await open(path, 'a+');
    const last = await lastCommit(file);
    const { size } = await file.stat();
    if (last === undefined && !(await isBegun(file, size))) {
      await file.close();
      throw new RangeError(`${path} is there already and holds something else. Give another file.`);
    }
    const end = last?.end ?? 0;
    if (size > end) await file.truncate(end);
    return new NdjsonStore(path, file, last, spare);
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
    if (!state.isWithin && state.phase === 'following') await this.compactLarge();
  }

  async sweep(state: CopyState): Promise<void> {
    await this.append(itemLine({ op: 'sweep', generation: state.generation }), state);
    await this.compacted();
  }

  /** Writes the file anew first, so that it holds each record once. */
  async *held(): AsyncIterable<HeldStamp[]> {
    if (this.last?.state === undefined) return;
    if (!this.isCompact) await this.compacted();
    for await (const texts of linesOf(this.path, this.last.end)) {
      const lines = texts.map((text) => JSON.parse(text) as ItemLine);
      yield lines.flatMap((line) =>
        line.op === 'upsert' ? [{ id: line.id, lastupdated: line.lastupdated }] : [],
      );
    }
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

  private async append(lines: string, state: CopyState): Promise<void> {
    await this.assertOurs();
    if (lines !== '') this.isCompact = false;
    const { end = 0, compacted = 0 } = this.last ?? {};
    const page = committed(lines, state, compacted);
    const bytes = end === 0 ? Buffer.concat([Buffer.from(FIRST_LINE), page]) : page;
    await this.file.appendFile(bytes);
    await this.file.datasync();
    this.last = { op: 'state', state, bytes: bytes.length, crc32: 0, compacted, end: end + bytes.length };
  }

  private async assertOurs(): Promise<void> {
    const [ours, there] = await Promise.all([this.file.stat(), stat(this.path).catch(() => undefined)]);
    if (there?.ino !== ours.ino || ours.size !== (this.last?.end ?? 0)) throw new CopyTakenError(this.path);
  }

  private async compactLarge(): Promise<void> {
    const { end, compacted, state } = this.last!;
    if (compacted === 0 && state!.generation === 1) this.last = { ...this.last!, compacted: end };
    else if (end > 2 * compacted + this.spare) await this.compacted();
  }

  private async compacted(): Promise<void> {
    const { end, state } = this.last!;
    await this.assertOurs();
    await compact(this.path, end, state!);
    await this.file.close();
    this.file = await open(this.path, 'a+');
    this.last = await lastCommit(this.file);
    this.isCompact = true;
  }
}

function marked(change: ToldChange, generation: number): ItemLine {
  return change.op === 'upsert' ? { ...change, generation } : change;
}

/** A file without a commit is ours where it holds nothing, or no more than a piece of the first line. */
async function isBegun(file: FileHandle, size: number): Promise<boolean> {
  if (size >= FIRST_LINE.length) return false;
  const { buffer, bytesRead } = await file.read(Buffer.alloc(size), 0, size, 0);
  return FIRST_LINE.startsWith(buffer.toString('latin1', 0, bytesRead));
}
