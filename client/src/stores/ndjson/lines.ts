import { crc32 } from 'node:zlib';
import type { CopyState, ToldChange } from '../../harvest/index.js';

/** Says that what stands before it, so many bytes with this checksum, was written whole. */
export interface CommitLine {
  op: 'state';
  /** The first line of a file has none. */
  state?: CopyState;
  bytes: number;
  crc32: number;
  /** How long the file was when each record stood in it once. */
  compacted: number;
}

/** Removes whatever is held of an id. */
export interface RemoveLine {
  op: 'remove';
  id: string;
}

/** Removes what has no mark of this generation, or of a newer one. */
export interface SweepLine {
  op: 'sweep';
  generation: number;
}

export type ItemLine = (ToldChange & { generation?: number }) | RemoveLine | SweepLine;

/** How each commit line begins, and no other line. */
export const COMMIT_BEGINS = '{"op":"state",';

/** The first line of a new file: by it the file is known as a copy before its first page is committed. */
export const FIRST_LINE = '{"op":"state","bytes":0,"crc32":0,"compacted":0}\n';

/** How each sweep line begins, and no other line. */
export const SWEEP_BEGINS = '{"op":"sweep",';

export function itemLine(line: ItemLine): string {
  return `${JSON.stringify(line)}\n`;
}

/** The lines of a page, and the line that commits them. */
export function committed(lines: string, state: CopyState, compacted: number): Buffer {
  const page = Buffer.from(lines);
  const commit: CommitLine = { op: 'state', state, bytes: page.length, crc32: crc32(page), compacted };
  return Buffer.concat([page, Buffer.from(`${JSON.stringify(commit)}\n`)]);
}

/** Reads a commit line; nothing where it is torn, or somebody else's. */
export function commitIn(line: string): CommitLine | undefined {
  try {
    const commit = JSON.parse(line) as CommitLine;
    return Number.isSafeInteger(commit.bytes) && commit.bytes >= 0 ? commit : undefined;
  } catch {
    return undefined;
  }
}

export function isWhole({ bytes, crc32: expected }: CommitLine, page: Buffer): boolean {
  return page.length === bytes && crc32(page) === expected;
}
