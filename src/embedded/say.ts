/** Tells the person at the terminal one line. */
export type Say = (line: string) => void;

const SECONDS_BETWEEN = 5;

/** Says what begins, and every 5 seconds how long it has taken so far, until the work ends. */
export async function withProgress<T>(say: Say, what: string, work: Promise<T>): Promise<T> {
  say(`${what} …`);
  const began = Date.now();
  const timer = setInterval(
    () => say(`${what} … ${Math.round((Date.now() - began) / 1000)} s`),
    SECONDS_BETWEEN * 1000,
  );
  return work.finally(() => clearInterval(timer));
}

/** Why something failed, on one line. */
export function reasonOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text
    .split(/\s*\n\s*/)
    .join(' ')
    .trim();
}
