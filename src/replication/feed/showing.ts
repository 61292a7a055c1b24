import { Inject, Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import type { mongo } from 'mongoose';
import { problems } from '../../common/index.js';
import { SETTINGS, type Settings } from '../../config/index.js';
import { isMomentGone } from '../../database/index.js';
import { type Look, type MarkKey, markName, Moments, Raises } from '../mark/index.js';
import { FiltersInForce, type InForce, OutdatedServiceError } from './filters-in-force.js';

const REMEMBERED = 10_000;

/** What is to be shown: a window of a mark up to `to`, judged by a service's filter if there is one. */
export interface Wish {
  mark: MarkKey;
  to: Date;
  service: InForce | undefined;
}

/** What is shown: the database as of a cluster time. */
export interface Shown {
  /** A `to` beyond the clock is read as the clock value that the moment announced. */
  to: Date;
  at: mongo.Timestamp;
  /** The moment that serves the window. */
  moment: mongo.Timestamp;
}

/**
 * Finds the one moment that a page shows (design §3, Read): one whose fence reaches `to` and at which the filter was the
 * one in force now. Where none serves, the mark is raised, and the page waits until the watcher has passed it.
 */
@Injectable()
export class Showing {
  /** What is shown instead of a moment that the server does not hold any more: the same for all further pages. */
  private readonly instead = new LRUCache<string, mongo.Timestamp>({ max: REMEMBERED });

  constructor(
    @Inject(SETTINGS) private readonly settings: Settings,
    private readonly moments: Moments,
    private readonly raises: Raises,
    private readonly filters: FiltersInForce,
  ) {}

  /** Throws 503 `preparing`, and `not-watched` where the watcher does not come far enough in time. */
  async of(wish: Wish): Promise<Shown> {
    const { mark, to: asked, service } = wish;
    const deadline = Date.now() + this.settings.markWait;
    let notBefore = service && this.filters.knownFrom(service);
    let look = await this.moments.serving(mark, asked, notBefore);
    const needed = earlier(asked, look.clock);
    for (;;) {
      const at = look.moment && (await this.placeOf(wish, look, look.moment.at));
      if (at !== undefined && look.moment !== undefined)
        return { to: needed === asked ? asked : announced(look, asked), at, moment: look.moment.at };
      const newest = service && look.moment && (await this.newestOf(mark, service));
      if (newest !== undefined) notBefore = newest;
      else if (!(await this.raises.passed(mark, deadline - Date.now()))) throw problems.notWatched();
      look = await this.moments.serving(mark, needed, notBefore);
    }
  }

  /**
   * What is shown where the server does not hold it any more: the same window as of where the watcher is. Throws as
   * {@link of}, and `not-watched` also where the filter was changed meanwhile.
   */
  async insteadOf(shown: Shown, wish: Wish): Promise<Shown> {
    const { watched } = await this.moments.progress();
    this.instead.set(nameOf(wish.mark, shown.moment), watched);
    const next = await this.of({ ...wish, to: shown.to }).catch((error: unknown) => {
      throw error instanceof OutdatedServiceError ? problems.notWatched() : error;
    });
    if (next.to < shown.to) throw problems.notWatched();
    return next;
  }

  /** The moment itself, or what is shown instead of it; nothing where the filter was another one then. */
  private async placeOf(
    { mark, service }: Wish,
    { progress, watched }: Look,
    moment: mongo.Timestamp,
  ): Promise<mongo.Timestamp | undefined> {
    const instead = this.instead.get(nameOf(mark, moment));
    const isShown =
      instead !== undefined && progress.since !== undefined && instead.compare(progress.since) >= 0;
    const place = isShown ? instead : moment;
    const shows = async (at: mongo.Timestamp) =>
      service === undefined || (await this.filters.isShown(service, at)) ? at : undefined;
    return shows(place).catch((error: unknown) => {
      if (!isMomentGone(error)) throw error;
      this.instead.set(nameOf(mark, moment), watched);
      return shows(watched);
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

function nameOf(mark: MarkKey, moment: mongo.Timestamp): string {
  return `${markName(mark)} ${moment.toBigInt()}`;
}

/** The clock value that the moment announced; after a fail-over to a slower clock it may lie ahead of it. */
function announced({ moment, clock }: Look, asked: Date): Date {
  return earlier(asked, earlier(moment?.fence ?? clock, clock));
}

function earlier(one: Date, other: Date): Date {
  return one < other ? one : other;
}
