import type { FileHandle } from 'node:fs/promises';
import { COMMIT_BEGINS, commitIn, type CommitLine, isWhole } from './lines.js';

const PIECE = 1 << 16;
const BREAK = 0x0a;

export interface LastCommit extends Pick<CommitLine, 'state' | 'compacted'> {
  /** Bytes of the file up to the end of the commit line. */
  end: number;
}

/**
 * The last commit of a log whose page is whole. What stands behind it was never finished: the process or the machine
 * failed while it was written, or another process is about it. Nothing where there is none.
 */
export async function lastCommit(file: FileHandle, size: number): Promise<LastCommit | undefined> {
  for await (const { begin, text } of linesBackwards(file, size)) {
    const commit = text.startsWith(COMMIT_BEGINS) ? commitIn(text) : undefined;
    if (commit === undefined || commit.bytes > begin) continue;
    const page = await read(file, begin - commit.bytes, commit.bytes);
    if (!isWhole(commit, page)) continue;
    const { state, compacted } = commit;
    return { ...(state && { state }), compacted, end: begin + Buffer.byteLength(text) + 1 };
  }
  return undefined;
}

/** Lines that have a line break, the last one first. */
async function* linesBackwards(
  file: FileHandle,
  size: number,
): AsyncIterable<{ begin: number; text: string }> {
  let at = size;
  let behind: Buffer[] = [];
  let isEnded = false;
  while (at > 0) {
    const length = Math.min(PIECE, at);
    at -= length;
    const piece = await read(file, at, length);
    let end = piece.length;
    for (let found = piece.lastIndexOf(BREAK); found !== -1; found = lastBreak(piece, found)) {
      behind.unshift(piece.subarray(found + 1, end));
      if (isEnded) yield { begin: at + found + 1, text: Buffer.concat(behind).toString() };
      behind = [];
      isEnded = true;
      end = found;
    }
    behind.unshift(piece.subarray(0, end));
  }
  if (isEnded) yield { begin: 0, text: Buffer.concat(behind).toString() };
}

function lastBreak(piece: Buffer, before: number): number {
  return before === 0 ? -1 : piece.lastIndexOf(BREAK, before - 1);
}

async function read(file: FileHandle, position: number, length: number): Promise<Buffer> {
  const buffer = Buffer.alloc(length);
  const { bytesRead } = await file.read(buffer, 0, length, position);
  return buffer.subarray(0, bytesRead);
}
