import type { Readable } from 'node:stream';
import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { FatalError, fileTrouble } from '../common/index.js';

/** The text of a file, or of stdin where the file is `-`. */
export async function textOf(file: string, input: Readable): Promise<string> {
  if (file === '-') return text(input);
  return readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new FatalError(`${file} cannot be read: ${fileTrouble(error)}.`);
  });
}
