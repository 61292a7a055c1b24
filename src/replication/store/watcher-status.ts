import type { Connection, mongo } from 'mongoose';
import { LEASES } from './collections.schema.js';
import { CLOCK } from '../../database/plain.js';
import type { Tenant } from '../../record/pure.js';
import { type Oplog, predictedWindow, readOplog } from './history.js';
import {
  isPreparing,
  knownAside,
  progressOfAll,
  secondsLeft,
  shareKnown,
  type StoredWork,
  type AsideApplication,
  type PassProgress,
  WATCHER,
  type WatchState,
} from '../protocol/index.js';

const MS = 1000;
/** On an idle database `watched` is so old at times (seconds). */
const USUAL_LAG_S = 4;

/** How long work will take. */
export interface Estimated {
  /** Undefined where it cannot be told, as of work that does not become less. */
  secondsLeft: number | undefined;
}

/** How far the watcher is behind with an application that it works through beside all others. */
interface AsideStatus extends Tenant, Estimated {
  /** Age of the application's `watched`, or of a pass of its own that is not over yet, in whole seconds. */
  lagSeconds: number;
  /** Why a pass goes over the application alone, until which its feeds answer 503 `preparing`; undefined where none does. */
  pass?: string;
  /** How much of what the log has for it by now is done, 0 to 1; undefined where it is not known. */
  share: number | undefined;
}

/** A pass as an operator sees it. */
export type PassStatus = Omit<PassProgress, 'pace' | 'isBare' | 'isFirst' | 'first' | 'later' | 'reached'> &
  Estimated;

/** How the watcher stands, as the database tells it: every instance says the same. What is not known is undefined. */
export interface WatcherStatus extends Estimated {
  /** The leading instance; undefined where none leads. */
  leader: string | undefined;
  /** Database's clock. */
  leaseExpires: Date | undefined;
  /** End of the last pass, to the second. */
  since: Date | undefined;
  /** Feeds answer 503 `preparing`. */
  isPreparing: boolean;
  /** The pass under way. */
  pass: PassStatus | undefined;
  /** Age of `watched`, of which `secondsLeft` are left where it is more than usual: how far the watcher is behind the database, in whole seconds, but for applications that are aside. */
  lagSeconds: number | undefined;
  /** Applications that are worked through beside all others; empty where none is. */
  aside: AsideStatus[];
  /** From the oldest entry of the oplog to the slowest stored token: for how many seconds the watcher may stay away. */
  oplogWindowSeconds: number | undefined;
  /**
   * How many seconds the server's clock is behind the last cluster time: it was set back, or a server before it was ahead. The
   * database's clock does not move until then.
   */
  clockBehindSeconds: number | undefined;
  /** How much of the oplog's size is used, 0 to a little over 1: one that is not full drops nothing yet. */
  oplogUsedRatio: number | undefined;
  /** For how many seconds the oplog will hold what is written, at its rate so far. */
  oplogPredictedWindowSeconds: number | undefined;
}

/** The watcher's state at one look, with the database's clock and the server's own. */
export type ClockedState = WatchState & { clock: Date; now: Date };

/** Reads how the watcher stands. Throws what the database throws. */
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

/** What the watcher's state and the oplog say. */
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
    oplogWindowSeconds: secondsBetween(
      secondOf(oplog?.oldest),
      secondOf(state && (progressOfAll(state).watched ?? state.watched)),
    ),
    oplogUsedRatio: oplog?.usedRatio,
    oplogPredictedWindowSeconds: oplog && predictedWindow(oplog),
  };
}

/** Of work on which an instance is; nobody works while none leads. */
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

/** What concerns an operator; where a pass would go on does not. */
function passStatusOf(pass: PassProgress, estimate: Estimate): PassStatus {
  const { reason, isRepair, started, done, total } = pass;
  return { reason, isRepair, started, done, total, secondsLeft: estimate(pass) };
}

/** How far the watcher is behind with the slowest of these applications, in seconds; 0 where there is none. */
export function greatestLag(aside: AsideStatus[]): number {
  return Math.max(0, ...aside.map(({ lagSeconds }) => lagSeconds));
}

/** Never negative: a clock may be behind, and a token may be older than the oplog. */
function secondsBetween(from: number | undefined, to: number | undefined): number | undefined {
  return from === undefined || to === undefined ? undefined : Math.max(0, to - from);
}

/** The second of a cluster time. The token is stored together with `watched`, and at the same place of the log. */
function secondOf(at: mongo.Timestamp | undefined): number | undefined {
  return at?.getHighBitsUnsigned();
}
