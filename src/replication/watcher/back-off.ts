const SHORTEST_MS = 1000;
const LONGEST_MS = 30_000;

/** How long to wait (milliseconds) after a number of consecutive failures: twice as long each time, up to half a minute. */
export function pauseBehind(troubles: number): number {
  return Math.min(SHORTEST_MS * 2 ** Math.max(0, troubles - 1), LONGEST_MS);
}
