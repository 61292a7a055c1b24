import type { mongo } from 'mongoose';
import { earlier } from '../../common/index.js';
import { FUTURE_TOLERANCE_MS } from '../../database/pure.js';
import { type MarkKey, markName } from './mark.js';

/** A stamp of a mark that some change has shown. */
export interface Head {
  mark: MarkKey;
  stamp: Date;
}

/** The greatest by the name of its mark. */
export type Heads = Map<string, Head>;

/** A document of `tidemark.heads`: the greatest stamp that the leader has seen since the mark was first raised. It only grows. */
export interface StoredHead {
  _id: MarkKey;
  stamp: Date;
}

/** Keeps the greatest. */
export function noteHead(heads: Heads, { mark, stamp }: Head): void {
  const name = markName(mark);
  const known = heads.get(name);
  if (known === undefined || stamp > known.stamp) heads.set(name, { mark, stamp });
}

/** The greatest stamp that is not taken for one of the future in a change of this cluster time. */
export function greatestAt(at: mongo.Timestamp): Date {
  return new Date(at.getHighBitsUnsigned() * 1000 + FUTURE_TOLERANCE_MS);
}

/**
 * What counts of a stamp that a change shows. One of the future is stamped anew, unless the clock has come to it by then: so
 * it counts as far as the clock may have come.
 */
export function countedStamp(stamp: Date, at: mongo.Timestamp): Date {
  return earlier(stamp, greatestAt(at));
}
