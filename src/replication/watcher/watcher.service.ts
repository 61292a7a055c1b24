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

const RENEW_MS = 2000;
const RETRY_MS = 1000;

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
      try {
        const state = await this.lease.acquire();
        if (state !== undefined) await this.lead(state);
      } catch (error) {
        if (error instanceof TermOverError) this.log.warn(error.message);
        else this.log.error({ err: error }, 'The watcher stumbled and begins again');
      }
      await wait(RETRY_MS, undefined, { signal: this.stop.signal }).catch(() => undefined);
    }
  }

  private async lead(state: WatchState): Promise<void> {
    const over = new AbortController();
    const renewal = this.keepRenewing(state.term, over);
    this.log.log(`This instance leads, term ${state.term}`);
    this.metrics.watcherLeads.set(1);
    try {
      await this.leadership.lead(this.client, state, AbortSignal.any([this.stop.signal, over.signal]));
    } finally {
      over.abort();
      await renewal;
      this.metrics.watcherLeads.set(0);
      await this.lease.release(state.term).catch(() => undefined);
    }
  }

  /** A leader that cannot renew stops leading before its lease has run out. */
  private async keepRenewing(term: number, over: AbortController): Promise<void> {
    while (!over.signal.aborted) {
      await wait(RENEW_MS, undefined, { signal: over.signal }).catch(() => undefined);
      if (over.signal.aborted) return;
      const renewed = await this.lease.renew(term).catch(() => false);
      if (!renewed) over.abort();
    }
  }
}
