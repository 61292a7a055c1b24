import { settledWithin } from '../../../common/index.js';

/** JSON allows blanks between what it is made of. */
export const SIGN = Buffer.from(' ');

/** The same pieces, with blanks in between for as long as the next one takes. */
export async function* withSigns(
  pieces: AsyncGenerator<Buffer, void>,
  ms: number,
): AsyncGenerator<Buffer, void> {
  try {
    for (;;) {
      const next = pieces.next();
      while ((await settledWithin(next, ms)) === undefined) yield SIGN;
      const { value, done } = await next;
      if (done === true) return;
      yield value;
    }
  } finally {
    await pieces.return();
  }
}
