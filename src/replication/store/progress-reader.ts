import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { InjectModel } from '@nestjs/mongoose';
import type { Model, mongo } from 'mongoose';
import type { Request } from 'express';
import type { Tenant } from '../../record/index.js';
import {
  knownAside,
  isIn,
  type AsideApplication,
  WATCHER,
  type WatchState,
  type Observed,
  type ObservedProgress,
  restInWords,
  retryAfter,
  secondsToPresent,
  shareKnown,
  type StoredWork,
  isPreparing,
  type WatchProgress,
  placeAt,
  type Laggards,
  laggardsAt,
  passingIn,
  type TotalProgress,
  watchedOf,
} from '../protocol/index.js';
import { WATCH_STATE_MODEL } from './collections.schema.js';
import { type Waiting, problems } from '../../platform/http/index.js';
import { literal, SharedReads } from '../../platform/common/index.js';
import { CLOCK } from '../../platform/database/index.js';
import { accessOf, reaches } from '../../auth/index.js';

/**
 * Reports whether the first pass over an application has ever ended. This never becomes false again, so the database is
 * queried only until all first passes have ended.
 */
@Injectable()
export class FirstPass {
  private ended = false;

  constructor(@InjectModel(WATCH_STATE_MODEL) private readonly states: Model<WatchState>) {}

  async hasEnded(tenant: Tenant): Promise<boolean> {
    if (this.ended) return true;
    const projection = { since: 1, aside: 1, 'pass.first': 1 };
    const state = await this.states.collection.findOne<WatchState>({ _id: WATCHER as never }, { projection });
    if (state?.since === undefined) return false;
    const never = neverPassed(state);
    this.ended = never.length === 0;
    return !never.some((one) => isIn({ only: tenant }, one));
  }
}

/** Lets operators and tests tell the reads of the leader's jobs from those of requests. */
export const OF_JOBS = 'tidemark jobs';

/** The fields of the lease about passes. */
export type PassState = Pick<WatchState, 'aside' | 'pass'>;

/** The applications over which no pass has ended yet, although a pass over everything has. */
export function neverPassed(state: PassState): Tenant[] {
  const own = (knownAside(state) as AsideApplication[]).filter(({ pass }) => pass?.isFirst === true);
  const first: unknown = state.pass?.first;
  const named = [...own, ...(Array.isArray(first) ? (first as (Partial<Tenant> | null)[]) : [])];
  return named.flatMap((one) =>
    typeof one?.organizationid === 'string' && typeof one.appid === 'string'
      ? [{ organizationid: one.organizationid, appid: one.appid }]
      : [],
  );
}

/** The wait of an application for work in progress. */
export function waitingFor({ organizationid, appid }: Tenant, work: StoredWork): Waiting {
  return waiting({ organizationid, appid }, work, shareKnown(work));
}

/** The wait of an application whose changes are not all processed: for events of its lane, or for seconds of the log. */
export function waitingAt(
  tenant: Tenant,
  { isAside, work, watched, clock }: Pick<ObservedProgress, 'isAside' | 'work' | 'watched' | 'clock'>,
): Waiting {
  if (isAside) return waitingFor(tenant, work);
  const [done, total] = [watched.getHighBitsUnsigned(), Math.floor(clock.getTime() / 1000)];
  return waiting(tenant, { done, total, pace: work.pace }, undefined);
}

function waiting({ organizationid, appid }: Tenant, work: StoredWork, share: number | undefined): Waiting {
  const seconds = secondsToPresent(work);
  return {
    application: `${organizationid}/${appid}`,
    progress: restInWords(share, seconds),
    retryAfter: retryAfter(work),
  };
}

const MAIN = 'main';

/** Whether an instance leads. */
interface Led {
  isLed: boolean;
}
const LED = { isLed: { $gt: ['$expires', CLOCK] } };
/** The fields for the main loop, which is responsible for several applications. */
const TOGETHER = {
  since: placeAt('$since'),
  pass: { $ifNull: ['$pass', '$$REMOVE'] },
  isAside: literal(false),
  work: literal({}),
};

/**
 * Reads the progress of the watcher. All reads but `laggards` and `passing` throw 503 `preparing` during a pass that
 * concerns them.
 */
@Injectable()
export class ProgressReader {
  private readonly shared = new SharedReads<ObservedProgress>();
  /** All jobs of the leader ask this before each step. */
  private readonly sharedPassing = new SharedReads<Tenant[] | undefined>();

  constructor(@InjectModel(WATCH_STATE_MODEL) private readonly states: Model<WatchState>) {}

  /** The progress for one application, or for one kind of its records. Concurrent callers share one query. */
  read({ organizationid, appid, kind }: Observed): Promise<ObservedProgress> {
    const observed = { organizationid, appid, ...(kind !== undefined && { kind }) };
    return this.shared.share(JSON.stringify([organizationid, appid, kind]), () =>
      this.readWith(observed, []),
    );
  }

  /** The progress of the main loop: for all applications that are not aside. */
  readMain(): Promise<ObservedProgress> {
    return this.shared.share(MAIN, () => this.observe({ watched: placeAt('$watched'), ...TOGETHER }, []));
  }

  /** The applications and kinds that are not processed up to a cluster time; undefined as in {@link laggardsAt}. */
  async laggards(at: mongo.Timestamp): Promise<Laggards | undefined> {
    return laggardsAt(await this.state(), at);
  }

  /** The applications over which a pass of their own is running or due; undefined during a pass over everything. */
  passing(): Promise<Tenant[] | undefined> {
    return this.sharedPassing.share('', async () => passingIn(await this.state()));
  }

  private async state(): Promise<TotalProgress> {
    const projection = { watched: 1, since: 1, pass: 1, aside: 1, kinds: 1 };
    const options = { projection, comment: OF_JOBS };
    return (await this.states.collection.findOne<WatchState>({ _id: WATCHER as never }, options)) ?? {};
  }

  /**
   * The progress for one application, together with the results of further stages. One query reads both as of one time. In
   * the stages, `$watched` is that of the application.
   */
  readWith<T extends object>(
    tenant: Observed,
    stages: mongo.Document[],
  ): Promise<ObservedProgress & Partial<T>> {
    return this.observe<T>(watchedOf(tenant), stages, tenant);
  }

  private async observe<T extends object>(
    projection: ReturnType<typeof watchedOf>,
    stages: mongo.Document[],
    tenant?: Tenant,
  ): Promise<ObservedProgress & Partial<T>> {
    const [state] = await this.states.collection
      .aggregate<WatchProgress & Pick<ObservedProgress, 'clock' | 'isAside' | 'work'> & Led & Partial<T>>([
        { $match: { _id: WATCHER } },
        { $project: { clock: CLOCK, restores: 1, ...LED, ...projection } },
        ...stages,
      ])
      .toArray();
    if (state?.watched === undefined || isPreparing(state)) throw preparing(state, tenant);
    const { clock, since, watched, pass, restores, isAside, isLed, work, ...joined } = state;
    const progress = {
      watched,
      ...(since && { since }),
      ...(pass !== undefined && { pass }),
      ...(restores !== undefined && { restores }),
    };
    const observed = { clock, progress, watched, isAside, work: isLed ? work : {} };
    return { ...observed, ...(joined as unknown as Partial<T>) };
  }
}

function preparing(state: (WatchProgress & Led) | undefined, tenant: Tenant | undefined): Error {
  const pass = state?.isLed === true ? (state.pass as StoredWork | undefined) : undefined;
  return problems.preparing(tenant && waitingFor(tenant, pass ?? {}));
}

/**
 * Answers writes with 503 `preparing` until the first pass has ended. Before that, members written by other programs have no
 * `emailkey`, and a new member could take an e-mail that is already in use. A first pass that has ended is not checked
 * again.
 */
@Injectable()
export class FirstPassGuard implements CanActivate {
  constructor(
    private readonly firstPass: FirstPass,
    private readonly progress: ProgressReader,
  ) {}

  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    const { needed, isAbove } = accessOf(context);
    return isAbove || needed === undefined || !reaches(needed, 'write') || this.assertEnded(context);
  }

  private async assertEnded(context: ExecutionContext): Promise<true> {
    const { org, app } = context.switchToHttp().getRequest<Request>().params as Record<'org' | 'app', string>;
    const tenant = { organizationid: org, appid: app };
    if (await this.firstPass.hasEnded(tenant)) return true;
    // Throws 503 `preparing`, unless the pass has ended in the meantime.
    await this.progress.read(tenant);
    return true;
  }
}

/** A fail-over or a pass usually takes tens of seconds. A longer outage needs intervention (milliseconds). */
const LONGEST_MS = 30_000;

/**
 * Measures for how long this instance has answered all feeds with 503 `not-watched`. Feeds of services that are being
 * re-stamped, and of applications that are aside, do not count. If processing hangs between the raise of a mark and its
 * moment, everything else looks healthy: the lease is renewed, and `max` is answered.
 */
@Injectable()
export class UnwatchedFeeds {
  private readonly longestMs = LONGEST_MS;
  /** The times of the first and the last refusal since a feed was served. */
  private refusals: { first: number; last: number } | undefined;

  /** Notes that a feed was served. */
  served(): void {
    this.refusals = undefined;
  }

  /** Notes that a feed was answered 503 `not-watched`, for a reason not specific to its service or application. */
  refused(): void {
    const now = performance.now();
    this.refusals = { first: this.current?.first ?? now, last: now };
  }

  /** Seconds between the first and the last refusal; 0 if a feed was served since, or if no feed was requested recently. */
  get seconds(): number {
    const { first = 0, last = 0 } = this.current ?? {};
    return (last - first) / 1000;
  }

  get isTooLong(): boolean {
    return this.seconds * 1000 >= this.longestMs;
  }

  /** Refusals expire: an instance that receives no more requests could not show that it serves again. */
  private get current(): { first: number; last: number } | undefined {
    return this.refusals && performance.now() - this.refusals.last < this.longestMs
      ? this.refusals
      : undefined;
  }
}
