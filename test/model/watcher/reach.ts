import type { mongo } from 'mongoose';
import type { WatchedEvent } from '../../../src/replication/protocol/events.js';
import type { LogBatch } from '../world/database.js';
import { justBefore, laterOf } from '../world/time.js';

/** How many events a batch holds. */
export const MOST_EVENTS = 6;

/**
 * How far the log is worked through after a batch. All events of a transaction have one time and a batch may end among
 * them, so the time of the last event is reached only where it stands alone.
 */
export function watchedAfter({ events, isDrained }: LogBatch, newest: mongo.Timestamp): mongo.Timestamp {
  const last = events.at(-1);
  const reached = last && reachedBy(last);
  return isDrained || reached === undefined ? laterOf(justBefore(newest), reached) : reached;
}

function reachedBy({ type, at }: WatchedEvent): mongo.Timestamp {
  return type === 'announced' ? at : justBefore(at);
}
