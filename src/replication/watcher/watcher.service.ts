import { setTimeout as wait } from 'node:timers/promises';
import {
  type BeforeApplicationShutdown,
  Inject,
  Injectable,
  Logger,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { mongo } from 'mongoose';
import { Metrics } from '../../common/index.js';
import { DATABASE_URI, driverOptions, Preparation } from '../../database/index.js';
import type { WatchState } from '../mark/index.js';
import { Leadership, TermOverError } from './leadership.js';
import { Lease } from './lease.js';
import { Totals } from './totals.js';

const RENEW_MS = 2000;
/** How often an instance that does not lead looks whether the lease is free. */
const RETRY_MS = 300;
const AFTER_TROUBLE_MS = 1000;

/** The life of the watcher: wait for the lease, lead, and after any trouble begin again, until the service stops. */
@Injectable()
export class Watcher implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly log = new Logger('Watcher');
  private readonly stop = new AbortController();
  private readonly client: mongo.MongoClient;
  private life: Promise<void> = Promise.resolve();

  constructor(
    @Inject(DATABASE_URI) uri: string,
    private readonly preparation: Preparation,
    private readonly lease: Lease,
    private readonly leadership: Leadership,
    private readonly totals: Totals,
    private readonly metrics: Metrics,
  ) {
    this.client = new mongo.MongoClient(uri, driverOptions);
  }

  onApplicationBootstrap(): void {
    this.life = this.live().catch((error: unknown) =>
      this.log.debug({ err: error }, 'The watcher never began'),
    );
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.stop.abort();
    await this.life;
    await this.client.close();
  }

  private async live(): Promise<void> {
    await this.preparation.done;
    if (!this.preparation.isComplete) return;
    while (!this.stop.signal.aborted) {
      const pause = await this.turn().then(
        () => RETRY_MS,
        async (error: unknown) => {
          if (error instanceof TermOverError) await this.explain(error).catch(() => undefined);
          else this.log.error({ err: error }, 'The watcher stumbled and begins again');
          return AFTER_TROUBLE_MS;
        },
      );
      await wait(pause, undefined, { signal: this.stop.signal }).catch(() => undefined);
    }
  }

  private async turn(): Promise<void> {
    const state = await this.lease.acquire();
    if (state !== undefined) await this.lead(state);
  }

  private async lead(state: WatchState): Promise<void> {
    const over = new AbortController();
    const renewal = this.keepRenewing(state.term, over);
    this.log.log(`This instance leads, term ${state.term}`);
    this.metrics.watcherLeads.set(1);
    try {
      const stop = AbortSignal.any([this.stop.signal, over.signal]);
      await this.leadership.lead({ client: this.client, state, stop });
    } finally {
      over.abort();
      await renewal;
      this.metrics.watcherLeads.set(0);
      await Promise.allSettled([this.lease.release(state.term), this.totals.store()]);
    }
  }

  /** With the lease the service's whole memory is gone: consumers cannot be told any more what they miss. */
  private async explain(error: TermOverError): Promise<void> {
    if (!(await this.lease.isGone())) return this.log.warn(error.message);
    this.log.error(
      'The database was dropped, with the marks and the ledger in it: consumers have to start over without from ' +
        '(docs/guarantees.md)',
    );
  }

  /** A leader that cannot renew stops leading before its lease has run out. */
  private async keepRenewing(term: number, over: AbortController): Promise<void> {
    while (!over.signal.aborted) {
      await wait(RENEW_MS, undefined, { signal: over.signal }).catch(() => undefined);
      if (over.signal.aborted) return;
      const renewed = await this.lease.renew(term).catch(() => false);
      if (!renewed) over.abort();
      else await this.totals.store().catch(() => undefined);
    }
  }
}
