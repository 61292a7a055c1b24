import mongoose, { type Connection, type mongo } from 'mongoose';
import { CLOCK, readAsOf } from '../../platform/database/plain.js';
import { LEASES, MARKS } from './collections.schema.js';
import {
  isPreparing,
  WATCHER,
  watchedOf,
  type WatchProgress,
  type WatchState,
  type Mark,
  type Restore,
} from '../protocol/index.js';
import type { Tenant } from '../../record/index.js';
import { FatalError, literal } from '../../platform/common/index.js';

/** The server's error code for a moment older than its history. */
const SNAPSHOT_TOO_OLD = 239;
/**
 * The server should retain a moment at least up to this age (milliseconds). If the moment is older, the problem is the
 * lag of the watcher.
 */
const RECENT_MS = 60_000;

/**
 * Whether the server retains the moment up to which all changes are processed; true if that moment is not known or
 * not recent. Every page is read as of such a moment.
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

/** Whether everything up to a place in the log is processed for an application, and no pass over it is running. */
export async function hasWatched(db: mongo.Db, tenant: Tenant, at: mongo.Timestamp): Promise<boolean> {
  const [state] = await db
    .collection<WatchState>(LEASES)
    .aggregate<WatchProgress>([{ $match: { _id: WATCHER } }, { $project: watchedOf(tenant) }])
    .toArray();
  return state?.watched !== undefined && !isPreparing(state) && state.watched.compare(at) >= 0;
}

/** `serverStatus` with the oplog, which requires fewer privileges than reading it. The costly sections are excluded. */
const OPLOG_STATUS = {
  serverStatus: 1,
  oplog: 1,
  ...{ locks: 0, metrics: 0, repl: 0, storageEngine: 0, tcmalloc: 0, wiredTiger: 0 },
};
const OPLOG_SIZE = { collStats: 'oplog.rs' };

/** The oplog of the server that replies. */
export interface Oplog {
  /** Cluster times of its oldest and its newest entry. */
  oldest: mongo.Timestamp;
  newest: mongo.Timestamp;
  /** The fraction of its size in use, 0 to slightly over 1; undefined if the user lacks the privilege. */
  usedRatio: number | undefined;
}

/**
 * Undefined on mongos, which has no oplog, if the user lacks the privilege, or if the database cannot be reached, which
 * is reported elsewhere.
 */
export async function readOplog(connection: Connection): Promise<Oplog | undefined> {
  const [status, size] = await Promise.all([
    connection.db!.command(OPLOG_STATUS).catch(() => undefined),
    connection
      .getClient()
      .db('local')
      .command(OPLOG_SIZE)
      .catch(() => undefined),
  ]);
  const times = status?.['oplog'] as
    | { earliestOptime?: mongo.Timestamp; latestOptime?: mongo.Timestamp }
    | undefined;
  if (times?.earliestOptime === undefined || times.latestOptime === undefined) return undefined;
  const usedRatio = Number(size?.['size']) / Number(size?.['maxSize']);
  return {
    oldest: times.earliestOptime,
    newest: times.latestOptime,
    usedRatio: Number.isFinite(usedRatio) ? usedRatio : undefined,
  };
}

/**
 * The predicted oplog window in seconds, at the average write rate since the oldest entry. For a full oplog it is the
 * current window. An oplog that is not full drops nothing yet, so its window will still grow. Undefined if the size is
 * unknown, or if the oplog covers less than a second.
 */
export function predictedWindow({ oldest, newest, usedRatio }: Oplog): number | undefined {
  const seconds = newest.getHighBitsUnsigned() - oldest.getHighBitsUnsigned();
  return usedRatio === undefined || usedRatio <= 0 || seconds <= 0
    ? undefined
    : Math.round(seconds / usedRatio);
}

/** The maximum number of restores that are kept: the newest ones, newest last. */
const MOST = 100;

/**
 * Notes that the database was restored from a backup (contract §3, `source-restored`). `backup` is a time before the
 * backup was begun. Without it, the latest time that the database has announced is used, which is right as long as no
 * instance has run since the restore. Throws a FatalError if `backup` is missing while an instance runs, if the time to
 * use is in the future, or if the service has never used the database.
 */
export async function noteRestore(connection: Connection, backup?: Date): Promise<Restore> {
  const leases = connection.collection<WatchState>(LEASES);
  const [state] = await leases
    .aggregate<{ clock: Date; isLed: boolean }>([
      { $match: { _id: WATCHER } },
      { $project: { clock: CLOCK, isLed: { $gt: ['$expires', CLOCK] } } },
    ])
    .toArray();
  if (state === undefined)
    throw new FatalError('The service has never used this database, so there is no restore to record.');
  if (backup !== undefined && backup > state.clock)
    throw new FatalError(`--backup "${backup.toISOString()}" lies in the future.`);
  if (backup === undefined && state.isLed)
    throw new FatalError(
      'An instance runs on this database, and may have announced times since the restore. Give --backup with a time ' +
        'before the backup was begun, such as --backup 2026-11-20T10:00:00Z.',
    );
  const after = backup ?? (await latestFence(connection)) ?? new Date(0);
  if (after >= state.clock)
    throw new FatalError(
      `The latest time that the database has announced, ${after.toISOString()}, is not past yet. Give --backup with a time ` +
        'before the backup was begun, such as --backup 2026-11-20T10:00:00Z.',
    );
  const added = { after: literal(after), until: CLOCK };
  const restores = { $slice: [{ $concatArrays: [{ $ifNull: ['$restores', []] }, [added]] }, -MOST] };
  const stored = await leases.findOneAndUpdate(
    { _id: WATCHER },
    [{ $set: { restores } }] as mongo.Document[],
    {
      returnDocument: 'after',
    },
  );
  return stored!.restores!.at(-1)!;
}

/** The latest time that the database has announced for any application and kind. */
async function latestFence(connection: Connection): Promise<Date | undefined> {
  const found = await connection
    .collection<Mark>(MARKS)
    .find({ fence: { $type: 'date' } }, { projection: { fence: 1 }, sort: { fence: -1 }, limit: 1 })
    .toArray();
  return found[0]?.fence;
}
