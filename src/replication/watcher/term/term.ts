import type { mongo } from 'mongoose';
import type { TermAtWork, WatchState } from '../../progress/index.js';

/** What one term of a leader is about. */
export interface Term extends TermAtWork {
  client: mongo.MongoClient;
  state: WatchState;
  stop: AbortSignal;
}

/** Where a stream begins, and what has to be worked through before feeds may show anything. */
export interface Start {
  token: unknown;
  since: mongo.Timestamp | undefined;
}
