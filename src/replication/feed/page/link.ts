import type { mongo } from 'mongoose';
import type { Behind, Window } from '../query/index.js';

/** Where the next page begins: behind an `_id`, and behind so many items more where these are not read yet. */
export interface PagePlace {
  lastoffsetid: mongo.ObjectId | undefined;
  behind?: Behind;
}

/**
 * The header that leads to the page of the same window at another place (contract §1): a query alone, which is read as one of
 * the path that was asked for, whatever a proxy has put before that.
 */
export function linkTo({ from, to, limit }: Window, place: PagePlace): Record<string, string> {
  const { lastoffsetid, behind } = place;
  const query = new URLSearchParams({
    ...(from && { from: from.toISOString() }),
    to: to.toISOString(),
    limit: String(limit),
    ...(lastoffsetid && { lastoffsetid: lastoffsetid.toHexString() }),
    ...(behind && { behind: textOf(behind) }),
  });
  return { Link: `<?${query.toString()}>; rel="next"` };
}

function textOf({ items, at }: Behind): string {
  return `${items}-${at.toBigInt().toString(16).padStart(16, '0')}`;
}
