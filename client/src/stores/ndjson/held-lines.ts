import type { FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { Fold } from './fold.js';
import type { CommitLine, ItemLine } from './lines.js';
import { TextFile } from './text-file.js';
import { linesOf } from './text-lines.js';
import { removeFolder, workFolder } from './work-folder.js';

/** Bytes of a log that are folded in memory at once. */
const PART = 16 << 20;
const MOST_PARTS = 256;

/** A log, and how many of its bytes count. It is read by its handle: another file may take its name meanwhile. */
export interface Log {
  path: string;
  file: FileHandle;
  end: number;
}

/** What is kept of a line. */
export type Kept = (line: ItemLine, text: string) => string;

/**
 * What a log holds of the records, a part of them at a time. The log is only read; memory is bounded by parts: a large
 * one is divided by id first, in a folder beside it.
 */
export async function* heldLines(log: Log, kept: Kept): AsyncIterable<Fold> {
  const count = Math.min(MOST_PARTS, Math.ceil(log.end / PART));
  if (count <= 1) {
    yield await folded(log.file, log.end, kept);
    return;
  }
  const folder = await workFolder(log.path);
  const parts: TextFile[] = [];
  try {
    for (let part = 0; part < count; part += 1) parts.push(await TextFile.make(join(folder, String(part))));
    await divide(log, parts, kept);
    for (const { file, size } of parts) yield await folded(file, size, kept);
  } finally {
    await Promise.all(parts.map((part) => part.close()));
    await removeFolder(folder);
  }
}

/** Each line goes to the part of its id; a sweep concerns all of them. */
async function divide({ file, end }: Log, parts: TextFile[], kept: Kept): Promise<void> {
  for await (const items of itemsOf(file, end, kept))
    for (const { line, text } of items) {
      const concerned = 'id' in line ? [parts[crc32(line.id) % parts.length]!] : parts;
      for (const part of concerned) await part.add(`${text}\n`);
    }
  for (const part of parts) await part.flush();
}

async function folded(file: FileHandle, end: number, kept: Kept): Promise<Fold> {
  const fold = new Fold();
  for await (const items of itemsOf(file, end, kept))
    for (const { line, text } of items) fold.add(line, text);
  return fold;
}

interface Item {
  line: ItemLine;
  text: string;
}

async function* itemsOf(file: FileHandle, end: number, kept: Kept): AsyncIterable<Item[]> {
  for await (const texts of linesOf(file, end))
    yield texts.flatMap((text) => {
      const line = JSON.parse(text) as ItemLine | CommitLine;
      return line.op === 'state' ? [] : [{ line, text: kept(line, text) }];
    });
}
