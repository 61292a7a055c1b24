import { LEASES } from './watch-state.schema.js';
import type { Connection, mongo } from 'mongoose';
import { CLOCK } from '../../database/index.js';
import { isPreparing } from './progress.js';
import { type PassProgress, WATCHER, type WatchState } from './watch-state.js';

const MS = 1000;

/** `serverStatus` with the oplog, which needs fewer rights than reading it; the costly sections are left out. */
const OPLOG_STATUS = {
  serverStatus: 1,
  oplog: 1,
  ...{ locks: 0, metrics: 0, repl: 0, storageEngine: 0, tcmalloc: 0, wiredTiger: 0 },
};

/** How the watcher stands, as the database tells it: every instance says the same. What is not known is undefined. */
export interface WatcherStatus {
  /** The leading instance; undefined where none leads. */
  leader: string | undefined;
  /** Database's clock. */
  leaseExpires: Date | undefined;
  /** End of the last pass, to the second. */
  since: Date | undefined;
  /** Feeds answer 503 `preparing`. */
  isPreparing: boolean;
  /** The pass under way. */
  pass: PassProgress | undefined;
  /** Age of `watched`: how far the watcher is behind the database, in whole seconds. */
  lagSeconds: number | undefined;
  /** From the oldest entry of the oplog to the stored token: for how many seconds the watcher may stay away. */
  oplogWindowSeconds: number | undefined;
}

/** The watcher's state at one look, with the database's clock. */
export type ClockedState = WatchState & { clock: Date };

/** Reads how the watcher stands. Throws what the database throws. */
export async function readWatcherStatus(connection: Connection): Promise<WatcherStatus> {
  const [[state], oldest] = await Promise.all([
    connection
      .collection(LEASES)
      .aggregate<ClockedState>([{ $match: { _id: WATCHER } }, { $set: { clock: CLOCK } }])
      .toArray(),
    oldestInOplog(connection),
  ]);
  return watcherStatusOf(state, oldest);
}

/** What the watcher's state says, and the cluster time of the oplog's oldest entry. */
export function watcherStatusOf(
  state: ClockedState | undefined,
  oldest: mongo.Timestamp | undefined,
): WatcherStatus {
  const watched = secondOf(state?.watched);
  const since = secondOf(state?.since);
  const now = state && Math.floor(state.clock.getTime() / MS);
  return {
    leader: state !== undefined && state.expires > state.clock ? state.holder : undefined,
    leaseExpires: state?.expires,
    since: since === undefined ? undefined : new Date(since * MS),
    isPreparing: state === undefined || isPreparing(state),
    pass: state?.pass && toldOf(state.pass),
    lagSeconds: secondsBetween(watched, now),
    oplogWindowSeconds: secondsBetween(secondOf(oldest), watched),
  };
}

/** What concerns an operator; where a pass would go on does not. */
function toldOf({ reason, isRepair, started, done, total }: PassProgress): PassProgress {
  return { reason, isRepair, started, done, total };
}

/** How much of a pass is done, 0 to 1. Its total is an estimate, which it may exceed. */
export function shareDone({ done, total }: PassProgress): number {
  return done / Math.max(total, done, 1);
}

/** Undefined behind mongos, which has no oplog, and where the user may not ask; a database that is away tells elsewhere. */
async function oldestInOplog(connection: Connection): Promise<mongo.Timestamp | undefined> {
  const status = await connection.db!.command(OPLOG_STATUS).catch(() => undefined);
  return (status?.['oplog'] as { earliestOptime?: mongo.Timestamp } | undefined)?.earliestOptime;
}

/** Never negative: a clock may be behind, and a token may be older than the oplog. */
function secondsBetween(from: number | undefined, to: number | undefined): number | undefined {
  return from === undefined || to === undefined ? undefined : Math.max(0, to - from);
}

/** The second of a cluster time. The token is stored together with `watched`, and at the same place of the log. */
function secondOf(at: mongo.Timestamp | undefined): number | undefined {
  return at?.getHighBitsUnsigned();
}
