import mongoose, { type mongo } from 'mongoose';
import { isIndexMissing } from './stated-index.js';

/** The server does not hold the moment any more, or the collection was made, dropped or renamed since. */
const GONE = new Set([239, 246]);

/** What a read needs to be as of one moment: pass it with the options of `find` or `aggregate`. */
export interface SnapshotOptions {
  session: mongo.ClientSession;
  readConcern: { level: 'snapshot' };
}

/**
 * Reads as of a cluster time (design §3, Read). The driver's snapshot sessions take their time from their first read;
 * here it is given, which its types do not show.
 */
export async function readAsOf<T>(
  client: mongo.MongoClient,
  at: mongo.Timestamp,
  read: (options: SnapshotOptions) => Promise<T>,
): Promise<T> {
  const session = client.startSession({ snapshot: true });
  Object.assign(session, { snapshotTime: at });
  try {
    return await read({ session, readConcern: { level: 'snapshot' } });
  } finally {
    await session.endSession();
  }
}

/** Whether a read failed since its moment can be read no more: it is too old, or an index was made since. */
export function isMomentGone(error: unknown): boolean {
  if (isIndexMissing(error)) return true;
  return error instanceof mongoose.mongo.MongoServerError && GONE.has(Number(error.code));
}
