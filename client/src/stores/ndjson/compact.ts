import { once } from 'node:events';
import { createWriteStream, type WriteStream } from 'node:fs';
import { mkdir, open, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { crc32 } from 'node:zlib';
import type { CopyState } from '../../harvest/index.js';
import { Fold } from './fold.js';
import { committed, type ItemLine, SWEEP_BEGINS, type SweepLine } from './lines.js';
import { linesOf } from './text-lines.js';

/** Bytes of a log that are folded in memory at once. */
const PART = 16 << 20;
const MOST_PARTS = 256;

/**
 * Writes a log anew so that each record that is held stands in it once, and puts it in the place of the old one. Memory
 * is bounded by parts: a large log is divided by id first. `end`: bytes of the log that count.
 */
export async function compact(path: string, end: number, state: CopyState): Promise<void> {
  const count = Math.min(MOST_PARTS, Math.ceil(end / PART));
  const folder = partsOf(path);
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder);
  const target = join(folder, 'whole');
  const { swept, parts } = count > 1 ? await divided(path, end, folder, count) : await alone(path, end);
  const output = createWriteStream(target);
  let size = 0;
  for (const part of parts) size += await folded(part, swept, output);
  output.end(committed('', state, size));
  await once(output, 'close');
  await synced(target);
  await rename(target, path);
  await synced(dirname(path));
  await rm(folder, { recursive: true });
}

/** Where a log is written anew. */
export function partsOf(path: string): string {
  return `${path}.parts`;
}

interface Part {
  path: string;
  end?: number;
}

/** What is to be folded, part by part, and the greatest generation that was swept. */
interface Divided {
  swept: number;
  parts: Part[];
}

async function alone(path: string, end: number): Promise<Divided> {
  let swept = 0;
  for await (const texts of linesOf(path, end))
    for (const text of texts)
      if (text.startsWith(SWEEP_BEGINS)) swept = (JSON.parse(text) as SweepLine).generation;
  return { swept, parts: [{ path, end }] };
}

async function divided(path: string, end: number, folder: string, count: number): Promise<Divided> {
  const paths = Array.from({ length: count }, (_, part) => join(folder, String(part)));
  const outputs = paths.map((part) => createWriteStream(part));
  let swept = 0;
  for await (const texts of linesOf(path, end)) {
    const pieces = new Map<number, string>();
    for (const text of texts) {
      const line = JSON.parse(text) as ItemLine;
      if (line.op === 'sweep') swept = line.generation;
      if (!('id' in line)) continue;
      const part = crc32(line.id) % count;
      pieces.set(part, `${pieces.get(part) ?? ''}${text}\n`);
    }
    for (const [part, piece] of pieces) await write(outputs[part]!, piece);
  }
  await Promise.all(outputs.map((output) => once(output.end(), 'close')));
  return { swept, parts: paths.map((part) => ({ path: part })) };
}

/** Writes what a part holds; answers how many bytes. */
async function folded({ path, end }: Part, swept: number, output: WriteStream): Promise<number> {
  const fold = new Fold();
  for await (const texts of linesOf(path, end)) {
    for (const text of texts) {
      const line = JSON.parse(text) as ItemLine;
      if ('id' in line) fold.add(line, text);
    }
  }
  let size = 0;
  for (const text of fold.heldSince(swept)) {
    size += Buffer.byteLength(text) + 1;
    await write(output, `${text}\n`);
  }
  return size;
}

async function write(output: WriteStream, text: string): Promise<void> {
  if (!output.write(text)) await once(output, 'drain');
}

async function synced(path: string): Promise<void> {
  const file = await open(path);
  await file.sync();
  await file.close();
}
