import { Injectable } from '@nestjs/common';
import { InjectModel, InjectConnection } from '@nestjs/mongoose';
import type { Model, mongo, Connection } from 'mongoose';
import { setTimeout as wait } from 'node:timers/promises';
import { ControlStream, KnownDocuments, type Follower } from '../../platform/control/index.js';
import type { Tenant } from '../../record/index.js';
import type { Kind } from '../../kinds/index.js';
import {
  isAside,
  isPreparing,
  type Observed,
  type ObservedProgress,
  progressOf,
  workOf,
  WATCHER,
  type WatchState,
  progressOfAll,
  type TotalProgress,
  type AppShare,
  isIn,
} from '../protocol/index.js';
import { WATCH_STATE_MODEL, LEASES } from './collections.schema.js';
import { pause } from '../../platform/common/index.js';
import { bareCommand, COMMAND_MS, placedReply } from '../../platform/database/index.js';
import { ProgressReader } from './progress-reader.js';

/** The watcher's state that feeds and `max` need. */
type KnownState = Pick<
  WatchState,
  '_id' | 'watched' | 'since' | 'pass' | 'expires' | 'aside' | 'kinds' | 'pace' | 'restores'
>;

/** The progress of the watcher as this instance knows it, without a query. */
@Injectable()
export class KnownProgress {
  private readonly states: KnownDocuments<KnownState>;

  constructor(
    private readonly control: ControlStream,
    @InjectModel(WATCH_STATE_MODEL) private readonly model: Model<WatchState>,
  ) {
    const reported = ['watched', 'since', 'pass', 'expires', 'aside', 'kinds', 'pace', 'restores'] as const;
    this.states = new KnownDocuments(control, model.collection.collectionName, reported);
  }

  /**
   * The progress of the watcher for an application. Undefined if this instance does not know it, if no instance leads,
   * or if feeds of the application currently show nothing; the caller then reads the database. `clock` is a lower bound
   * of the database's clock.
   */
  async observe(tenant: Observed): Promise<ObservedProgress | undefined> {
    if (!this.control.isCurrent) return undefined;
    const state = this.peek() ?? (await this.find());
    const { clock, clockByNow } = this.control;
    if (state === undefined || clock === undefined || clockByNow === undefined) return undefined;
    const progress = progressOf(state, tenant);
    const { watched } = progress;
    if (watched === undefined || isPreparing(progress) || state.expires <= clockByNow) return undefined;
    return { clock, watched, progress, isAside: isAside(state, tenant), work: workOf(state, tenant) };
  }

  /** The state of all applications, if it is known. */
  peek(): KnownState | undefined {
    return this.states.peek(WATCHER);
  }

  /** The known state, or else the stored one; undefined if the database does not answer soon. */
  async find(): Promise<KnownState | undefined> {
    return (await this.states.find(WATCHER, () => this.read())) ?? undefined;
  }

  private async read(): Promise<KnownState | null> {
    const state = await this.control.readSoon((options) =>
      this.model.collection.findOne<KnownState>({ _id: WATCHER as never }, options),
    );
    return state ?? null;
  }
}

const FIRST_PAUSE_MS = 2;
const LONGEST_PAUSE_MS = 25;
const SLOWER = 1.3;

interface Target {
  at: mongo.Timestamp;
  /** The application whose progress counts; undefined for all applications. */
  tenant: Tenant | undefined;
}

interface Waiting extends Target {
  resolve: (isReached: boolean) => void;
  /** Removes the listener from the signal of the caller, which may outlive the wait. */
  forget: () => void;
}

/**
 * Reports when the watcher has reached a place in the log. The control stream reports the progress. One poll also
 * serves all waiting callers, and queries the database only while the control stream reports nothing. Without callers,
 * there is no poll.
 */
@Injectable()
export class WatchedPlace implements Follower {
  readonly collection = LEASES;
  readonly reported = ['watched', 'aside', 'kinds'];
  private readonly waiting = new Set<Waiting>();
  private isReading = false;

  constructor(
    control: ControlStream,
    private readonly known: KnownProgress,
  ) {
    control.follow(this);
  }

  /** {@link KnownProgress} follows the same stream and was created first, so it already knows of the change. */
  hear(): void {
    if (this.waiting.size > 0) this.resolveUpTo(this.known.peek());
  }

  forget(): void {}

  /**
   * Resolves to true when everything of an application up to a cluster time has been processed; to false if `left` is
   * aborted first.
   */
  reached(at: mongo.Timestamp, left: AbortSignal, tenant: Tenant): Promise<boolean> {
    return this.awaited({ at, tenant }, left);
  }

  /** Like {@link reached}, for all applications. */
  reachedByAll(at: mongo.Timestamp, left: AbortSignal): Promise<boolean> {
    return this.awaited({ at, tenant: undefined }, left);
  }

  private awaited(place: Target, left: AbortSignal): Promise<boolean> {
    if (left.aborted) return Promise.resolve(false);
    const state = this.known.peek();
    if (state !== undefined && isReached(place, state)) return Promise.resolve(true);
    return new Promise((resolve) => {
      const leave = () => this.end(one, false);
      const one = { ...place, resolve, forget: () => left.removeEventListener('abort', leave) };
      this.waiting.add(one);
      left.addEventListener('abort', leave, { once: true });
      if (!this.isReading) void this.read();
    });
  }

  private async read(): Promise<void> {
    this.isReading = true;
    for (let ms = FIRST_PAUSE_MS; this.waiting.size > 0; ms = Math.min(ms * SLOWER, LONGEST_PAUSE_MS)) {
      await wait(ms);
      this.resolveUpTo(this.known.peek() ?? (await this.known.find().catch(() => undefined)));
    }
    this.isReading = false;
  }

  private resolveUpTo(state: TotalProgress | undefined): void {
    if (state === undefined) return;
    for (const one of this.waiting) if (isReached(one, state)) this.end(one, true);
  }

  private end(one: Waiting, isReached: boolean): void {
    this.waiting.delete(one);
    one.forget();
    one.resolve(isReached);
  }
}

function isReached({ at, tenant }: Target, state: TotalProgress): boolean {
  const { watched } = tenant === undefined ? progressOfAll(state) : progressOf(state, tenant);
  return watched !== undefined && watched.compare(at) >= 0;
}

const LOOK_MS = 100;
/** How long the lanes of applications that are aside have to reach what the main loop has reached (milliseconds). */
const LONGEST_WAIT_MS = 5000;

/** The current time of the database. */
export interface Now {
  /** Everything written so far has this cluster time or an earlier one. */
  at: mongo.Timestamp;
  /** The database's clock. */
  clock: Date;
}

/** The part of the records that is processed up to a cluster time. */
export interface Processed {
  share: AppShare;
  /** The created kinds that are not: a pass over them is running or due, or has ended after that time. */
  withoutKinds: readonly Kind[];
}

/**
 * Lets the leader's background jobs wait for the watcher's progress. An application that is far behind, or over which a pass
 * is running, is left out instead of being waited for, so that it delays no other (design §10).
 */
@Injectable()
export class WorkedThrough {
  private readonly longestWaitMs = LONGEST_WAIT_MS;

  constructor(
    @InjectConnection() private readonly connection: Connection,
    private readonly progress: ProgressReader,
  ) {}

  /** Throws a DeadlineError if the server does not reply in time. */
  async now(): Promise<Now> {
    const hello = () => bareCommand(this.connection.db!, { hello: 1 }, { within: COMMAND_MS });
    const { at, reply } = await placedReply('now', hello, { within: COMMAND_MS });
    const { localTime } = reply;
    return { at, clock: localTime instanceof Date ? localTime : new Date(at.getHighBitsUnsigned() * 1000) };
  }

  /**
   * Waits until the main loop has processed everything up to a cluster time, and some seconds more for the lanes. Returns
   * what is then processed up to that time, without the applications and kinds over which a pass of their own is running
   * or due, or has ended after that time. Undefined if `stop` is aborted first, or if a pass over everything has ended
   * after that time.
   */
  async upTo(at: mongo.Timestamp, stop: AbortSignal): Promise<Processed | undefined> {
    let until: number | undefined;
    while (!stop.aborted) {
      const late = await this.progress.laggards(at).catch(() => undefined);
      if (late?.isOutdated === true) return undefined;
      if (late !== undefined) {
        const { passing, behind, kinds } = late;
        until ??= performance.now() + this.longestWaitMs;
        if (behind.length === 0 || performance.now() >= until)
          return { share: { but: [...passing, ...behind] }, withoutKinds: kinds };
      }
      await pause(LOOK_MS, stop);
    }
    return undefined;
  }

  /** Whether no pass over anything that {@link upTo} has returned has begun since. */
  async isStill({ share, withoutKinds }: Processed, at: mongo.Timestamp): Promise<boolean> {
    const late = await this.progress.laggards(at);
    if (late === undefined || late.isOutdated) return false;
    if (late.kinds.some((kind) => !withoutKinds.includes(kind))) return false;
    return [...late.passing, ...late.behind].every((one) => !isIn(share, one));
  }

  /**
   * Waits until no pass over everything is running. Returns the applications over which no pass of their own is running
   * or due; undefined if `stop` is aborted first.
   */
  async noPass(stop: AbortSignal): Promise<AppShare | undefined> {
    while (!stop.aborted) {
      const passing = await this.progress.passing().catch(() => undefined);
      if (passing !== undefined) return { but: passing };
      await pause(LOOK_MS, stop);
    }
    return undefined;
  }
}
