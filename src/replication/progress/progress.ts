import type { mongo } from 'mongoose';

/** How far the watcher has come, in cluster times. */
export interface WatchProgress {
  /** Everything up to here is worked through. */
  watched?: mongo.Timestamp;
  /** End of the last pass: what was before cannot be shown any more. */
  since?: mongo.Timestamp;
  /** Present while a pass is under way. */
  pass?: unknown;
}

/** Whether nothing can be shown yet: a pass is under way, or the stream has not come to its end (503 `preparing`). */
export function isPreparing({ watched, since, pass }: WatchProgress): boolean {
  return pass !== undefined || since === undefined || watched === undefined || watched.compare(since) < 0;
}
