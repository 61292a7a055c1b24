/** How often what failed is repeated, and how soon. */
export interface Retries {
  /** How often at most, for each request. Without it 8; 0 repeats nothing. */
  times: number;
  /** Milliseconds before the first repetition; each next wait is twice as long. Without it 200. */
  firstMs: number;
  /** Milliseconds. No wait is longer; where `Retry-After` asks for a longer one, nothing is repeated. Without it 60,000. */
  longestMs: number;
}

export const RETRIES: Retries = { times: 8, firstMs: 200, longestMs: 60_000 };

/** A failure that may be repeated: the how-manieth of its request, from 0, and the seconds that the service asks for. */
export interface Failure {
  count: number;
  retryAfter?: number | undefined;
}

/**
 * Milliseconds to wait before a request is repeated; nothing where it is not to be. Between a half and the whole of twice as
 * long as before, by chance (`random`, from 0 to 1), so that clients that failed together do not come back together. Never
 * less than the service asks for.
 */
export function waitBefore(
  { count, retryAfter = 0 }: Failure,
  { times, firstMs, longestMs }: Retries,
  random: number,
): number | undefined {
  const askedMs = retryAfter * 1000;
  if (count >= times || askedMs > longestMs) return undefined;
  const whole = Math.min(longestMs, firstMs * 2 ** count);
  return Math.min(longestMs, Math.max(whole * (0.5 + random / 2), askedMs + random * firstMs));
}

/** Seconds of a header `Retry-After`: a number, or a date (RFC 9110 §10.2.3). */
export function secondsOf(retryAfter: string | null, now: number): number | undefined {
  if (retryAfter === null) return undefined;
  if (/^\d+$/.test(retryAfter)) return Number(retryAfter);
  const at = Date.parse(retryAfter);
  return Number.isNaN(at) ? undefined : Math.max(0, Math.ceil((at - now) / 1000));
}
