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
