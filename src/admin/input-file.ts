import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { addAbortSignal, type Readable } from 'node:stream';
import { FatalError, fileTrouble } from '../common/index.js';

/** Stands for stdin. */
const STDIN = '-';
const CHUNK = 256 * 1024;

/** What a command reads, and how many bytes that is, where that is known. */
export interface InputFile {
  size: number | undefined;
  /** Begins to read; the signal ends it. The reader destroys it in the end. */
  open(stop: AbortSignal): Readable;
}

/** The file of this name, or `input` where it is `-`. Throws where there is no such file. */
export async function inputFile(name: string, input: Readable): Promise<InputFile> {
  if (name === STDIN) return { size: undefined, open: (stop) => addAbortSignal(stop, input) };
  return {
    size: await sizeOf(name),
    open: (stop) => addAbortSignal(stop, createReadStream(name, { highWaterMark: CHUNK })),
  };
}

async function sizeOf(file: string): Promise<number> {
  const found = await stat(file).catch((error: NodeJS.ErrnoException) => {
    throw new FatalError(`${file} cannot be read: ${fileTrouble(error)}.`);
  });
  if (found.isDirectory()) throw new FatalError(`${file} is a directory.`);
  return found.size;
}
