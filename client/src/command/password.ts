import { usageError } from './exit-codes.js';

/** Bytes: no password is longer. */
const MOST_BYTES = 4096;

/** Where a password is read from. */
export interface PasswordInput extends AsyncIterable<Uint8Array | string> {
  /** Ends what waits for it. */
  destroy?(): unknown;
}

/** The password that stands on stdin, one line break at its end cut. Throws where the signal is aborted before stdin ends. */
export async function passwordFrom(input: PasswordInput, signal?: AbortSignal): Promise<string> {
  const leave = () => void input.destroy?.();
  signal?.addEventListener('abort', leave, { once: true });
  if (signal?.aborted) leave();
  try {
    return await read(input);
  } finally {
    signal?.removeEventListener('abort', leave);
  }
}

async function read(input: PasswordInput): Promise<string> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of input) {
    pieces.push(typeof piece === 'string' ? Buffer.from(piece) : piece);
    bytes += pieces.at(-1)!.length;
    if (bytes > MOST_BYTES) throw usageError(`The password on stdin has more than ${MOST_BYTES} bytes.`);
  }
  const password = Buffer.concat(pieces)
    .toString()
    .replace(/\r?\n$/, '');
  if (password === '') throw usageError('--password-stdin: there is no password on stdin.');
  return password;
}
