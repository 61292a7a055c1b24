import type { mongo } from 'mongoose';
import type { Tenant } from '../../record/pure.js';

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

/** How far the leader has come with an application that it works through beside all others (design §10). */
export interface AsideProgress extends Tenant {
  watched: mongo.Timestamp;
}

/** The progress of the stream, with the applications that have a progress of their own. */
export interface TotalProgress extends WatchProgress {
  aside?: readonly AsideProgress[];
}

/** How far the watcher has come with one application. */
export function progressOf(
  { aside = [], ...progress }: TotalProgress,
  { organizationid, appid }: Tenant,
): WatchProgress {
  const own = aside.find((one) => one.organizationid === organizationid && one.appid === appid);
  return own === undefined ? progress : { ...progress, watched: own.watched };
}

/** How far the watcher has come with every application. */
export function progressOfAll({ aside = [], ...progress }: TotalProgress): WatchProgress {
  const all = [progress.watched, ...aside.map(({ watched }) => watched)].filter((one) => one !== undefined);
  const slowest = all.reduce((first, one) => (one.compare(first) < 0 ? one : first), all[0]!);
  return progress.watched === undefined ? progress : { ...progress, watched: slowest };
}
