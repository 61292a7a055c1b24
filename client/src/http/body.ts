import type { Silence } from './silence.js';

/** Bytes. JavaScript holds no longer text; a page that has more of them wants a smaller `limit`. */
const MOST_BYTES = 2 ** 29;

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

/** The whole body. */
export async function textOf(response: Response, silence: Silence): Promise<string> {
  let text = '';
  for await (const piece of piecesOf(response, silence)) {
    text += piece;
    if (text.length > MOST_BYTES) throw new RangeError('the answer is too long: ask with a smaller limit');
  }
  return text;
}
