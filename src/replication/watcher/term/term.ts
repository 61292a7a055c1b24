import type { mongo } from 'mongoose';
import type { WatchState } from '../../progress/index.js';

/** What one term of a leader is about. */
export interface Term {
  client: mongo.MongoClient;
  state: WatchState;
  stop: AbortSignal;
}

/** Where a stream begins, and what has to be worked through before feeds may show anything. */
export interface Start {
  token: unknown;
  since: mongo.Timestamp | undefined;
}
