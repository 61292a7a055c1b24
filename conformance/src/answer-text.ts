const MOST_BYTES = 256 * 1024 * 1024;

/** When enough was read of an answer that does not end by itself. */
export interface EnoughText {
  /** Whether what has come is all that is wanted. */
  isEnough: (text: string) => boolean;
  /** Milliseconds behind the headers, if not those of what comes at once. What has not come by then counts as not coming. */
  withinMs?: number;
}

/** The body of an answer, or as much of it as is wanted. */
export async function answerText({ body }: Response, enough?: Required<EnoughText>): Promise<string> {
  if (body === null) return '';
  const reader = body.getReader() as ReadableStreamDefaultReader<Uint8Array>;
  const leave = () => void reader.cancel().catch(() => undefined);
  const timer = enough && setTimeout(leave, enough.withinMs);
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  try {
    for (;;) {
      const { value } = await reader.read();
      if (value === undefined) break;
      bytes += value.byteLength;
      if (bytes > MOST_BYTES) throw new Error(`its body has more than ${MOST_BYTES} bytes`);
      pieces.push(value);
      if (enough?.isEnough(textOf(pieces)) === true) break;
    }
  } finally {
    clearTimeout(timer);
    leave();
  }
  return textOf(pieces);
}

function textOf(pieces: Uint8Array[]): string {
  return Buffer.concat(pieces).toString('utf8');
}
