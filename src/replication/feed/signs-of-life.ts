/** JSON allows blanks between what it is made of. */
export const SIGN = Buffer.from(' ');

/** What a promise gives, if it does so before the next sign of life is due. */
export async function settledWithin<T extends object | boolean>(
  promise: Promise<T>,
  ms: number,
): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const due = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), ms);
  });
  return Promise.race([promise, due]).finally(() => clearTimeout(timer));
}

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
