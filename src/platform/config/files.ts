import { closeSync, openSync, readSync } from 'node:fs';

/** The operating system's error codes for unreadable files, in words. */
const WORDS: Record<string, string> = {
  ENOENT: 'there is no such file',
  ENOTDIR: 'there is no such file',
  EACCES: 'its permissions do not allow it',
  EPERM: 'its permissions do not allow it',
  EISDIR: 'it is a directory',
};

const LONGEST_SHOWN = 200;

/** Why a file cannot be read, in a few words. */
export function fileTrouble({ code = '', message }: NodeJS.ErrnoException): string {
  return WORDS[code] ?? message;
}

/** A path as a sentence for the operator shows it. */
export function shownPath(path: string): string {
  return `"${path.slice(0, LONGEST_SHOWN)}"`;
}

/** A file that a setting names cannot be used. The message follows the setting and the path: `is empty`. */
export class FileFault extends Error {}

/**
 * The content of a file that a setting names. Throws a {@link FileFault} if the file cannot be read, is empty or has
 * more than `most` bytes. Devices and pipes have no size in advance, so no more than that is read of them either.
 */
export function contentOf(path: string, most: number): Buffer {
  const content = firstBytes(path, most + 1);
  if (content.length > most) throw new FileFault(`has more than ${most / 1024} KB`);
  if (content.length === 0) throw new FileFault('is empty');
  return content;
}

function firstBytes(path: string, most: number): Buffer {
  const content = Buffer.alloc(most);
  let length = 0;
  try {
    const file = openSync(path, 'r');
    try {
      for (let read = 1; read > 0 && length < most; length += read)
        read = readSync(file, content, length, most - length, null);
    } finally {
      closeSync(file);
    }
  } catch (error) {
    throw new FileFault(`cannot be read: ${fileTrouble(error as NodeJS.ErrnoException)}`, { cause: error });
  }
  return content.subarray(0, length);
}
