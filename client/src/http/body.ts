import { TooLongError } from './connection-error.js';
import type { Silence } from './silence.js';

/** Characters. V8 holds no longer text. */
const LONGEST_TEXT = 2 ** 29 - 24;

/** The pieces of a body as text, as they arrive. */
export async function* piecesOf(response: Response, silence: Silence): AsyncGenerator<string, void> {
  const reader = response.body?.getReader();
  if (reader === undefined) return;
  const decoder = new TextDecoder();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      silence.heard();
      yield decoder.decode(value, { stream: true });
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

/** The whole body. Throws `TooLongError`. */
export async function textOf(response: Response, silence: Silence): Promise<string> {
  let text = '';
  try {
    for await (const piece of piecesOf(response, silence)) {
      if (text.length + piece.length > LONGEST_TEXT) throw new RangeError('Invalid string length');
      text += piece;
    }
  } catch (error) {
    throw isOfLength(error) ? new TooLongError('The request', { cause: error }) : error;
  }
  return text;
}

/** What platforms throw where a text, or a piece of it, becomes too long. */
function isOfLength(error: unknown): boolean {
  const { code, message } = (error ?? {}) as { code?: unknown; message?: unknown };
  return (
    code === 'ERR_STRING_TOO_LONG' || (error instanceof RangeError && /string length/i.test(String(message)))
  );
}
