import { Inject, Injectable } from '@nestjs/common';
import { InjectConnection } from '@nestjs/mongoose';
import type { Connection, mongo } from 'mongoose';
import { problems } from '../../common/index.js';
import { SETTINGS, type Settings } from '../../config/index.js';
import { isMomentGone, readAsOf, type SnapshotOptions } from '../../database/index.js';
import { type Look, type MarkKey, Moments, Raises } from '../mark/index.js';
import { FiltersInForce, type InForce } from './filters-in-force.js';

/** What is to be shown: a window of a mark up to `to`, judged by a service's filter if there is one. */
export interface Wish {
  mark: MarkKey;
  to: Date;
  service: InForce | undefined;
}

/** Reads something as of a moment. A `to` beyond the clock is read as the clock value that the moment announced. */
export type Reading<T> = (to: Date, snapshot: SnapshotOptions) => Promise<T>;

/**
 * Shows the database as of one moment (design §3, Read): one whose fence reaches `to` and at which the filter was the
 * one in force now. Where none serves, the mark is raised, and the page waits until the watcher has passed it.
 */
@Injectable()
export class Showing {
  constructor(
    @InjectConnection() private readonly connection: Connection,
    @Inject(SETTINGS) private readonly settings: Settings,
    private readonly moments: Moments,
    private readonly raises: Raises,
    private readonly filters: FiltersInForce,
  ) {}

  /** Throws 503 `preparing`, and `not-watched` where the watcher does not come far enough in time. */
  async show<T>({ mark, to: asked, service }: Wish, read: Reading<T>): Promise<T> {
    const deadline = Date.now() + this.settings.markWait;
    let notBefore = service && this.filters.knownFrom(service);
    let look = await this.moments.serving(mark, asked, notBefore);
    const needed = earlier(asked, look.clock);
    for (;;) {
      const to = needed === asked ? asked : announced(look, asked);
      const shown = await this.tryOf(look, service, (snapshot) => read(to, snapshot));
      if (shown !== undefined) return shown.value;
      const newest = service && look.moment && (await this.newestOf(mark, service));
      if (newest !== undefined) notBefore = newest;
      else if (!(await this.raises.passed(mark, deadline - Date.now()))) throw problems.notWatched();
      look = await this.moments.serving(mark, needed, notBefore);
    }
  }

  /** As of the moment, or where the server does not hold it any more, as of where the watcher is. */
  private async tryOf<T>(
    { moment, watched }: Look,
    service: InForce | undefined,
    read: (snapshot: SnapshotOptions) => Promise<T>,
  ): Promise<{ value: T } | undefined> {
    if (moment === undefined) return undefined;
    const client = this.connection.getClient();
    const attempt = async (at: mongo.Timestamp) => {
      if (service !== undefined && !(await this.filters.isShown(service, at))) return undefined;
      return { value: await readAsOf(client, at, read) };
    };
    return attempt(moment.at).catch((error: unknown) => {
      if (isMomentGone(error)) return attempt(watched);
      throw error;
    });
  }

  /**
   * Where the newest moment is, if it shows the filter in force and the serving one does not: pages come from there on.
   */
  private async newestOf(mark: MarkKey, service: InForce): Promise<mongo.Timestamp | undefined> {
    const { moment } = await this.moments.newest(mark);
    if (moment === undefined) return undefined;
    const isShown = await this.filters.isShown(service, moment.at).catch((error: unknown) => {
      if (isMomentGone(error)) return false;
      throw error;
    });
    return isShown ? moment.at : undefined;
  }
}

/** The clock value that the moment announced; after a fail-over to a slower clock it may lie ahead of it. */
function announced({ moment, clock }: Look, asked: Date): Date {
  return earlier(asked, earlier(moment?.fence ?? clock, clock));
}

function earlier(one: Date, other: Date): Date {
  return one < other ? one : other;
}
