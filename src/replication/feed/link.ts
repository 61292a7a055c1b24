import mongoose, { type mongo } from 'mongoose';
import type { Behind } from './parameters.js';
import type { Window } from './window.js';

const UNSAFE_IN_LINK = /[<>"]/g;

/** Where the next page begins: behind an `_id`, and behind so many items more where these are not read yet. */
export interface Place {
  lastoffsetid: mongo.ObjectId | undefined;
  behind?: Behind;
}

/** The header that leads to the page of the same window at another place (contract §1). */
export function linkTo(path: string, { from, to, limit }: Window, place: Place): Record<string, string> {
  const { lastoffsetid, behind } = place;
  const query = new URLSearchParams({
    ...(from && { from: from.toISOString() }),
    to: to.toISOString(),
    limit: String(limit),
    ...(lastoffsetid && { lastoffsetid: lastoffsetid.toHexString() }),
    ...(behind && { behind: textOf(behind) }),
  });
  return { Link: `<${path.replace(UNSAFE_IN_LINK, encodeURIComponent)}?${query.toString()}>; rel="next"` };
}

function textOf({ items, at }: Behind): string {
  return `${items}-${at.toBigInt().toString(16).padStart(16, '0')}`;
}

/** Reads what {@link linkTo} writes; both are checked by the pattern that a parameter must have. */
export function behindOf(items: string, at: string): Behind {
  return { items: Number(items), at: new mongoose.mongo.Timestamp(BigInt(`0x${at}`)) };
}
