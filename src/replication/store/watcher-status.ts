import type { Connection, mongo } from 'mongoose';
import { LEASES } from './collections.schema.js';
import { CLOCK } from '../../platform/database/plain.js';
import { bsonTypeOf, type Tenant } from '../../record/pure.js';
import { type Oplog, predictedWindow, readOplog } from './history.js';
import {
  isPreparing,
  knownAside,
  secondsLeft,
  shareKnown,
  type StoredWork,
  type AsideApplication,
  type PassProgress,
  WATCHER,
  type WatchState,
} from '../protocol/index.js';

const MS = 1000;
/** The greatest usual age of `watched` on an idle database (seconds). */
const USUAL_LAG_S = 4;

/** An estimate of the remaining time of some work. */
export interface Estimated {
  /** Undefined if unknown, for example if the remaining work is not shrinking. */
  secondsLeft: number | undefined;
}

/** The lag of the watcher for an application that is aside. */
interface AsideStatus extends Tenant, Estimated {
  /** Age of the application's `watched`, or of its own unfinished pass, in whole seconds. */
  lagSeconds: number;
  /**
   * The reason for a pass over this application alone; undefined if there is none. Until it ends, the application's feeds
   * answer 503 `preparing`.
   */
  pass?: string;
  /**
   * The processed fraction of the application's events that are in the log now, or of its own unfinished pass, 0 to 1;
   * undefined if unknown.
   */
  share: number | undefined;
}

/** A pass as shown to operators. */
export type PassStatus = Omit<PassProgress, 'pace' | 'isBare' | 'isFirst' | 'first' | 'later' | 'reached'> &
  Estimated;

/**
 * The status of the watcher, as stored in the database and therefore identical on every instance. Unknown values are
 * undefined.
 */
export interface WatcherStatus extends Estimated {
  /** The leading instance; undefined if none leads. */
  leader: string | undefined;
  /** By the database's clock. */
  leaseExpires: Date | undefined;
  /** End of the last pass, to the second. */
  since: Date | undefined;
  /** Whether feeds answer 503 `preparing`. */
  isPreparing: boolean;
  /** The running pass. */
  pass: PassStatus | undefined;
  /**
   * The age of `watched` in whole seconds: how far the watcher is behind the database, except for applications that are
   * aside. If it is more than usual, `secondsLeft` estimates the time to catch up.
   */
  lagSeconds: number | undefined;
  /** The applications that are aside; empty if there are none. */
  aside: AsideStatus[];
  /** Seconds from the oldest oplog entry to the slowest stored token: for how long the watcher may be down. */
  oplogWindowSeconds: number | undefined;
  /**
   * Seconds by which the server's clock is behind the last cluster time: the clock was set back, or that of an earlier
   * server was ahead. The database's clock does not advance until the server's has caught up.
   */
  clockBehindSeconds: number | undefined;
  /** The fraction of the oplog's size in use, 0 to slightly over 1. An oplog that is not full drops nothing yet. */
  oplogUsedRatio: number | undefined;
  /** The predicted oplog window in seconds, at the write rate so far. */
  oplogPredictedWindowSeconds: number | undefined;
}

/** One reading of the watcher's state, with the database's clock and the server's own. */
export type ClockedState = WatchState & { clock: Date; now: Date };

/** Reads the status of the watcher. Errors of the database are thrown unchanged. */
export async function readWatcherStatus(connection: Connection): Promise<WatcherStatus> {
  const [[state], oplog] = await Promise.all([
    connection
      .collection(LEASES)
      .aggregate<ClockedState>([{ $match: { _id: WATCHER } }, { $set: { clock: CLOCK, now: '$$NOW' } }])
      .toArray(),
    readOplog(connection),
  ]);
  return watcherStatusOf(state, oplog);
}

/** Computes the status from the watcher's state and the oplog. */
export function watcherStatusOf(state: ClockedState | undefined, oplog: Oplog | undefined): WatcherStatus {
  const watched = secondOf(state?.watched);
  const since = secondOf(state?.since);
  const now = state && Math.floor(state.clock.getTime() / MS);
  const leader = state !== undefined && state.expires > state.clock ? state.holder : undefined;
  const estimate: Estimate = (work) => (leader === undefined ? undefined : secondsLeft(work));
  const lagSeconds = secondsBetween(watched, now);
  const late = (lagSeconds ?? 0) > USUAL_LAG_S ? { done: watched, total: now, pace: state?.pace } : undefined;
  return {
    leader,
    leaseExpires: state?.expires,
    since: since === undefined ? undefined : new Date(since * MS),
    isPreparing: state === undefined || isPreparing(state),
    pass: state?.pass && passStatusOf(state.pass, estimate),
    lagSeconds,
    secondsLeft: late && estimate(late),
    aside: state === undefined ? [] : asideStatusOf(state, estimate),
    clockBehindSeconds: state && Math.floor((state.clock.getTime() - state.now.getTime()) / MS),
    oplogWindowSeconds: secondsBetween(secondOf(oplog?.oldest), state && slowestSecond(state)),
    oplogUsedRatio: oplog?.usedRatio,
    oplogPredictedWindowSeconds: oplog && predictedWindow(oplog),
  };
}

/**
 * The second of the slowest stored token, of the main loop or of an application that is aside. An application with a pass
 * of its own has none.
 */
function slowestSecond(state: ClockedState): number | undefined {
  const places = [state, ...knownAside(state)].map(({ watched }) => watched);
  const seconds = places.filter((place) => bsonTypeOf(place) === 'Timestamp').map(secondOf) as number[];
  return seconds.length === 0 ? undefined : Math.min(...seconds);
}

/** Estimates the remaining time of work; undefined while no instance leads. */
type Estimate = (work: StoredWork) => number | undefined;

function asideStatusOf(state: ClockedState, estimate: Estimate): AsideStatus[] {
  const now = Math.floor(state.clock.getTime() / MS);
  return (knownAside(state) as AsideApplication[]).map((one) => {
    const { organizationid, appid, watched, pass } = one;
    const from = pass?.started instanceof Date ? pass.started.getTime() / MS : secondOf(watched);
    const work = pass ?? one;
    return {
      ...{ organizationid, appid },
      lagSeconds: Math.max(0, now - Math.floor(from ?? now)),
      ...(typeof pass?.reason === 'string' && { pass: pass.reason }),
      share: shareKnown(work),
      secondsLeft: estimate(work),
    };
  });
}

/** The fields for operators, without the place where the pass would resume. */
function passStatusOf(pass: PassProgress, estimate: Estimate): PassStatus {
  const { reason, isRepair, started, done, total } = pass;
  return { reason, isRepair, started, done, total, secondsLeft: estimate(pass) };
}

/** The lag of the slowest of these applications, in seconds; 0 if there are none. */
export function greatestLag(aside: AsideStatus[]): number {
  return Math.max(0, ...aside.map(({ lagSeconds }) => lagSeconds));
}

/** Never negative, although a clock may be behind or a token older than the oplog. */
function secondsBetween(from: number | undefined, to: number | undefined): number | undefined {
  return from === undefined || to === undefined ? undefined : Math.max(0, to - from);
}

/**
 * The second of a cluster time. `watched` also serves as the position of the token, which is always stored together with
 * it.
 */
function secondOf(at: mongo.Timestamp | undefined): number | undefined {
  return at?.getHighBitsUnsigned();
}
