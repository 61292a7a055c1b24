/** Standard deviations of the normal distribution within which 95 of 100 estimates lie. */
const WITHIN = 2;

/** A number of records that was concluded from some of them, and to how many it is right in 95 of 100 cases. */
export interface Estimate {
  count: number;
  error: number;
}

/**
 * How many of so many records are in a group, where so many hits were found among those that were looked at, each of which
 * was as likely to be chosen as any other. The error is the greater side of Wilson's interval, which is right for rare
 * groups, too: none among 10,000 does not mean that there is none. Whoever looks at all of them knows.
 */
export function estimated(hits: number, looked: number, of: number): Estimate {
  if (looked >= of) return { count: hits, error: 0 };
  if (looked === 0) return { count: 0, error: of };
  const chosen = (looked * (of - 1)) / (of - looked);
  const share = hits / looked;
  const square = WITHIN ** 2 / chosen;
  const middle = (share + square / 2) / (1 + square);
  const half = Math.sqrt((share * (1 - share) + square / 4) * square) / (1 + square);
  const off = Math.max(middle + half - share, share - (middle - half));
  return { count: Math.round(share * of), error: Math.min(of, Math.ceil(off * of + 1 / 2)) };
}
