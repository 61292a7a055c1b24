import { setTimeout as wait } from 'node:timers/promises';
import {
  type BeforeApplicationShutdown,
  Inject,
  Injectable,
  Logger,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { mongo } from 'mongoose';
import { pause, within } from '../../platform/common/index.js';
import { SETTINGS, type Settings } from '../../platform/config/index.js';
import { DATABASE_URI, driverOptions, isDatabaseAway, Preparation } from '../../platform/database/index.js';
import { onKindsChanged } from '../../kinds/index.js';
import { Metrics } from '../../platform/observability/index.js';
import { KnownKinds, TermLife, LONGEST_SILENCE_MS, TermOverError, Totals } from '../store/index.js';
import type { WatchState } from '../protocol/index.js';
import { pauseBehind } from './term/stream-work.js';
import { Leadership } from './term/leadership.js';
import { Lease } from './lease.js';

const RENEW_MS = 2000;
/** How often an instance that does not lead checks whether the lease is free. */
const RETRY_MS = 300;
const TOTALS_MS = 3000;
/** Longest wait for the kinds at the beginning of a term, before the lease is renewed. */
const KINDS_MS = 3000;
/** Longest wait at shutdown for work in progress. */
const SHUTDOWN_MS = 5000;

/**
 * Lifecycle of the watcher: wait for the lease, lead, restart after a failure, until the service stops. An instance with
 * ROLE=serve never leads.
 */
@Injectable()
export class Watcher implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly log = new Logger('Watcher');
  private readonly stop = new AbortController();
  private life: Promise<void> = Promise.resolve();

  constructor(
    @Inject(DATABASE_URI) private readonly uri: string,
    @Inject(SETTINGS) private readonly settings: Settings,
    private readonly preparation: Preparation,
    private readonly lease: Lease,
    private readonly leadership: Leadership,
    private readonly totals: Totals,
    private readonly metrics: Metrics,
    private readonly kinds: KnownKinds,
  ) {}

  onApplicationBootstrap(): void {
    if (this.settings.role === 'serve') return;
    this.life = this.live().catch((error: unknown) =>
      this.log.debug({ err: error }, 'The watcher did not start'),
    );
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.stop.abort();
    await Promise.race([this.life, wait(SHUTDOWN_MS, undefined, { ref: false })]);
  }

  private async live(): Promise<void> {
    await this.preparation.done;
    if (!this.preparation.isComplete) return;
    for (let troubles = 0; !this.stop.signal.aborted;) {
      const next = await this.turn().then(
        () => {
          troubles = 0;
          return RETRY_MS;
        },
        async (error: unknown) => {
          await this.logFailure(error);
          troubles = isDatabaseAway(error) || error instanceof TermOverError ? 0 : troubles + 1;
          return pauseBehind(troubles);
        },
      );
      await pause(next, this.stop.signal);
    }
  }

  private async turn(): Promise<void> {
    const state = await this.lease.acquire();
    if (state === undefined) return;
    if (this.stop.signal.aborted) await this.lease.release(state.term);
    else await this.lead(state);
  }

  /** Work that hangs when the term ends is abandoned, and its client is closed by force. Its effects may be repeated. */
  private async lead(state: WatchState): Promise<void> {
    const life = new TermLife();
    const end = () => life.end();
    this.stop.signal.addEventListener('abort', end, { once: true });
    const client = new mongo.MongoClient(this.uri, driverOptions);
    this.log.log(`This instance leads, term ${state.term}`);
    this.metrics.watcherLeads.set(1);
    let unlisten = (): void => undefined;
    try {
      // An instance without requests may know outdated kinds, and the stream follows only the kinds known at its start.
      await within(KINDS_MS, 'Reading the kinds', this.kinds.refresh());
      unlisten = onKindsChanged(end);
      const term = { client, state, stop: life.signal, showLife: () => life.showLife(), share: life.share };
      await Promise.race([this.leadership.lead(term), this.keepRenewing(state.term, life)]);
    } finally {
      life.end();
      unlisten();
      this.stop.signal.removeEventListener('abort', end);
      this.metrics.watcherLeads.set(0);
      void client.close(true).catch(() => undefined);
      await Promise.allSettled([this.lease.release(state.term), this.storeTotals()]);
    }
  }

  /**
   * Renews the lease while the work shows life, until the term ends. A leader that cannot renew stops leading before its
   * lease expires. A term that hangs is abandoned.
   */
  private async keepRenewing(term: number, life: TermLife): Promise<void> {
    while (!life.signal.aborted) {
      await pause(RENEW_MS, life.signal);
      if (life.signal.aborted) break;
      if (life.silence > LONGEST_SILENCE_MS) {
        this.metrics.watcherAbandoned.inc();
        throw new TermOverError(
          `Term ${term} has shown no sign of life for ${Math.round(life.silence / 1000)} s and is given up`,
        );
      }
      const renewed = await this.lease.renew(term).catch(() => false);
      if (!renewed) life.end();
      else await this.storeTotals().catch(() => undefined);
    }
    await wait(SHUTDOWN_MS, undefined, { ref: false });
  }

  private storeTotals(): Promise<void> {
    return within(TOTALS_MS, 'Storing the totals', this.totals.store());
  }

  private async logFailure(error: unknown): Promise<void> {
    if (error instanceof TermOverError) await this.explain(error).catch(() => undefined);
    else this.log.error({ err: error }, 'The watcher failed and restarts');
  }

  /**
   * If the lease is gone, so is everything else that the service stored. It can no longer report to consumers what they
   * missed.
   */
  private async explain(error: TermOverError): Promise<void> {
    if (!(await this.lease.isGone())) return this.log.warn(error.message);
    this.log.error(
      'The database was dropped, with the marks and the ledger in it: consumers have to start over, without the parameter from ' +
        '(docs/guarantees.md)',
    );
  }
}
