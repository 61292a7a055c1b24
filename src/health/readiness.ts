import { Injectable, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import { InjectConnection } from '@nestjs/mongoose';
import { type HealthIndicatorResult, HealthIndicatorService } from '@nestjs/terminus';
import type { Connection } from 'mongoose';
import { SharedReads, within } from '../platform/common/index.js';
import {
  IndexKeeper,
  modelsOf,
  NO_HISTORY,
  Preparation,
  unfitness,
  missingRights,
  rightSentence,
} from '../platform/database/index.js';
import { countPending, type PendingCounts } from '../replication/store/plain.js';
import {
  holdsWatched,
  readWatcherStatus,
  UnwatchedFeeds,
  type WatcherStatus,
  countSetAside,
} from '../replication/store/index.js';
import { type ConsumerLag, consumerLags } from '../replication/feed/plain.js';
import { countEmailDuplicates } from '../replication/watcher/index.js';
import { recordCollections } from '../kinds/index.js';

/** How long the state of the consumers is reused (milliseconds). */
const CONSUMERS_MS = 60_000;

/** The database reads of health checks and scrapes. These need no credentials, so concurrent callers share a read. */
@Injectable()
export class HealthReads {
  private readonly pings = new SharedReads<unknown>();
  private readonly flaws = new SharedReads<string | undefined>();
  private readonly standings = new SharedReads<WatcherStatus>();
  private readonly counts = new SharedReads<[number, number]>();
  private readonly pending = new SharedReads<PendingCounts>();
  private readonly consumers = new SharedReads<ConsumerLag[]>();
  private lastConsumers: { at: number; found: ConsumerLag[] } | undefined;

  constructor(@InjectConnection() private readonly connection: Connection) {}

  /** Throws if the database does not respond. */
  ping(): Promise<unknown> {
    return this.pings.share('ping', () => this.connection.db!.command({ ping: 1 }));
  }

  /**
   * Why this database no longer meets the requirements of the service, and what an operator has to do; undefined if it does.
   */
  flaw(): Promise<string | undefined> {
    return this.flaws.share('flaw', async () => {
      const sentence = await unfitness(this.connection.db!, modelsOf(this.connection));
      if (sentence !== undefined) return sentence;
      return (await holdsWatched(this.connection)) ? undefined : NO_HISTORY;
    });
  }

  watcherStatus(): Promise<WatcherStatus> {
    return this.standings.share('standing', () => readWatcherStatus(this.connection));
  }

  /** Counts the services whose edited filter is pending: re-stamps for it are still outstanding. */
  pendingServices(): Promise<PendingCounts> {
    return this.pending.share('pending', () => countPending(this.connection));
  }

  /**
   * The state and the lag of each consumer, at most a minute old. They are reused, because the query reads one index
   * key for each kind of each application.
   */
  async consumerLags(): Promise<ConsumerLag[]> {
    const { lastConsumers } = this;
    if (lastConsumers !== undefined && performance.now() - lastConsumers.at < CONSUMERS_MS)
      return lastConsumers.found;
    const found = await this.consumers.share('consumers', () => consumerLags(this.connection.db!));
    this.lastConsumers = { at: performance.now(), found };
    return found;
  }

  /** The approximate numbers of members whose e-mail another member has, and of quarantine entries. */
  openRepairs(): Promise<[emailDuplicates: number, quarantined: number]> {
    return this.counts.share('counts', () =>
      Promise.all([countEmailDuplicates(this.connection), countSetAside(this.connection)]),
    );
  }
}

/** A load balancer does not wait longer, so a check that takes longer reports not ready (milliseconds). */
const LONGEST_MS = 2000;

/** Maximum lag that is normal without a leader: until another instance takes over (seconds). */
const USUAL_LAG_S = 30;

/** The conditions under which a load balancer may send requests to this instance. */
@Injectable()
export class Readiness {
  private stopping = false;

  constructor(
    private readonly reads: HealthReads,
    private readonly indicators: HealthIndicatorService,
    private readonly preparation: Preparation,
    private readonly keeper: IndexKeeper,
    private readonly unwatched: UnwatchedFeeds,
  ) {}

  /** From now on this instance is not ready, regardless of the checks: it has begun to stop. */
  stop(): void {
    this.stopping = true;
  }

  get isStopping(): boolean {
    return this.stopping;
  }

  async database(): Promise<HealthIndicatorResult> {
    const indicator = this.indicators.check('database');
    if (!this.preparation.isComplete) return indicator.down({ state: 'preparing' });
    const both = Promise.all([this.reads.ping(), this.reads.flaw()]);
    return within(LONGEST_MS, 'The check of the database', both).then(
      ([, flaw]) =>
        flaw === undefined ? indicator.up() : indicator.down({ state: 'unfit', detail: `${flaw}.` }),
      () => indicator.down({ state: 'away' }),
    );
  }

  /** Feeds need their indexes: they wait until the leader has rebuilt an index that was dropped or hidden. */
  async indexes(): Promise<HealthIndicatorResult> {
    const indicator = this.indicators.check('indexes');
    if (!this.preparation.isComplete) return indicator.down({ state: 'preparing' });
    return within(LONGEST_MS, 'The check of the indexes', this.keeper.missing()).then(
      ({ names: missing, detail }) =>
        missing.length === 0
          ? indicator.up()
          : indicator.down({ state: 'preparing', missing, ...(detail !== undefined && { detail }) }),
      () => indicator.down({ state: 'unknown' }),
    );
  }

  /**
   * A lagging watcher alone does not make an instance unready: the pages that it delays are answered 503 individually.
   * The instance is unready while nothing can be shown because of a pass; if there is no leader and the lag is great,
   * because only progress renews the lease; and if the instance has answered all feeds with 503 `not-watched` for a
   * long time.
   */
  async replication(): Promise<HealthIndicatorResult> {
    const indicator = this.indicators.check('replication');
    return within(LONGEST_MS, 'The check of the watcher', this.reads.watcherStatus()).then(
      (standing) => {
        const isHeldUp = isUnwatched(standing) || this.unwatched.isTooLong;
        const state = standing.isPreparing ? 'preparing' : isHeldUp ? 'not-watched' : undefined;
        const feedsUnwatchedSeconds = Math.round(this.unwatched.seconds) || undefined;
        const details = { ...detailsOf(standing), feedsUnwatchedSeconds };
        return state === undefined ? indicator.up(details) : indicator.down({ state, ...details });
      },
      () => indicator.down({ state: 'unknown' }),
    );
  }
}

function isUnwatched({ leader, lagSeconds }: WatcherStatus): boolean {
  return leader === undefined && lagSeconds !== undefined && lagSeconds > USUAL_LAG_S;
}

function detailsOf(standing: WatcherStatus) {
  const { leader, lagSeconds, oplogWindowSeconds, pass } = standing;
  const progress = pass && { reason: pass.reason, done: pass.done, total: pass.total };
  const clockBehindSeconds = standing.clockBehindSeconds || undefined;
  return { leader, lagSeconds, oplogWindowSeconds, clockBehindSeconds, pass: progress };
}

/** Logs once which actions the role of the service lacks. Otherwise the only sign might be that a gauge is absent. */
@Injectable()
export class RightsAtStart implements OnApplicationBootstrap {
  private readonly log = new Logger('Roles');

  constructor(
    @InjectConnection() private readonly connection: Connection,
    private readonly preparation: Preparation,
  ) {}

  onApplicationBootstrap(): void {
    void this.preparation.done.then(() => this.logMissing()).catch(() => undefined);
  }

  private async logMissing(): Promise<void> {
    if (!this.preparation.isComplete) return;
    const missing = await missingRights(this.connection, recordCollections());
    for (const one of missing ?? []) this.log.warn(`The role lacks an action: ${rightSentence(one)}`);
  }
}
