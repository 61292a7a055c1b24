import mongoose, { type Connection, type mongo } from 'mongoose';
import { CLOCK, readAsOf } from '../../database/plain.js';
import { LEASES } from './watch-state.schema.js';
import { WATCHER, type WatchState } from './watch-state.js';

/** The server's error code for a moment older than its history. */
const SNAPSHOT_TOO_OLD = 239;
/** An older moment is explained by the watcher's own lag (milliseconds). */
const RECENT_MS = 60_000;

/**
 * Whether the server retains the moment up to which all changes are processed; true if that moment is not recent. Every page
 * is read as of such a moment.
 */
export async function holdsWatched(connection: Connection): Promise<boolean> {
  const leases = connection.collection<WatchState>(LEASES);
  const [state] = await leases
    .aggregate<{ watched?: mongo.Timestamp; clock: Date }>([
      { $match: { _id: WATCHER } },
      { $project: { watched: 1, clock: CLOCK } },
    ])
    .toArray();
  const { watched, clock } = state ?? {};
  if (watched === undefined || clock === undefined) return true;
  if (clock.getTime() - watched.getHighBitsUnsigned() * 1000 > RECENT_MS) return true;
  return readAsOf(connection.getClient(), watched, (snapshot) =>
    leases.findOne({ _id: WATCHER }, { ...snapshot, projection: { _id: 1 } }),
  ).then(
    () => true,
    (error: unknown) => {
      if (error instanceof mongoose.mongo.MongoServerError && error.code === SNAPSHOT_TOO_OLD) return false;
      throw error;
    },
  );
}
