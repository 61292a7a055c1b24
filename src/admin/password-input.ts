import type { Readable } from 'node:stream';
import { FatalError } from '../common/index.js';

const SHORTEST = 12;
const LONGEST = 256;
/** A character takes at most four bytes in UTF-8; a line break two. */
const MOST_BYTES = LONGEST * 4 + 2;

/** The password that stands on stdin, one trailing line break cut. */
export async function passwordFrom(input: Readable): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of input as AsyncIterable<Buffer | string>) {
    chunks.push(Buffer.from(chunk));
    bytes += chunks.at(-1)?.length ?? 0;
    if (bytes > MOST_BYTES) break;
  }
  return checkedPassword(textOf(Buffer.concat(chunks)).replace(/\r?\n$/, ''));
}

/** The password itself; throws unless it has 12 to 256 characters. */
export function checkedPassword(password: string): string {
  const length = [...password].length;
  if (length < SHORTEST || length > LONGEST) {
    throw new FatalError(`A password has ${SHORTEST} to ${LONGEST} characters; this one does not.`);
  }
  return password;
}

function textOf(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new FatalError('The password is not UTF-8.');
  }
}
