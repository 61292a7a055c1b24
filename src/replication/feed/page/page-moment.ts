import { setTimeout as wait } from 'node:timers/promises';
import { Inject, Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import type { mongo } from 'mongoose';
import { atMost, earlier, later } from '../../../common/index.js';
import { SETTINGS, type Settings } from '../../../config/index.js';
import { isMomentGone } from '../../../database/index.js';
import { problems } from '../../../http/index.js';
import {
  type InForce,
  FiltersInForce,
  OutdatedServiceError,
  Announced,
  type MomentLook,
  Moments,
  MarkRaiser,
  ProgressReader,
  UnwatchedFeeds,
  waitingAt,
  waitingFor,
} from '../../store/index.js';
import { fenceAfterRaise, type MarkKey, markName, type ProgressLook } from '../../protocol/index.js';

/** However long MARK_WAIT is, a `to` further ahead than this is not waited for (milliseconds). */
const FURTHEST_MS = 5000;

/** Within this time a page that waits for the clock is answered, unless MARK_WAIT alone is longer (milliseconds). */
const ANSWER_MS = 9000;

/** The database reads its clock every 10 ms only, so it may come to a `to` a little late (milliseconds). */
const TICK_MS = 20;

/** What a page asks for and meets: dates of the database's clock. */
interface AskedTo {
  to: Date;
  clock: Date;
  /** The highest clock value ever announced. After a fail-over to a slower clock it lies ahead of it. */
  fence: Date | undefined;
  /** Whether it is the first page of its feed. */
  isFirst: boolean;
}

/**
 * What a page does about its `to` (contract §1): `reached` by the clock or announced before, so the mark is raised at
 * most; `awaited` until the clock is there; `clock`, read as the clock; or `refused`, since pages of different moments
 * would lose changes in silence.
 */
type Aim = 'reached' | 'awaited' | 'clock' | 'refused';

export function aimOf({ to, clock, fence, isFirst }: AskedTo, markWait: number): Aim {
  if (to <= clock || (fence !== undefined && to <= fence)) return 'reached';
  if (to.getTime() - clock.getTime() <= Math.min(markWait, FURTHEST_MS)) return 'awaited';
  return isFirst ? 'clock' : 'refused';
}

/** For how long a page waits altogether, for the clock and for the watcher behind it. */
export function patienceOf({ to, clock }: Pick<AskedTo, 'to' | 'clock'>, markWait: number): number {
  const ahead = Math.max(0, to.getTime() - clock.getTime());
  return Math.max(markWait, Math.min(markWait + ahead, ANSWER_MS));
}

/** Resolves when a clock that was seen has come to a `to`, if both go equally fast; at the deadline at the latest. */
export async function clockReaches(to: Date, clock: Date, deadline: number): Promise<void> {
  const ahead = to.getTime() - clock.getTime();
  if (ahead > 0) await wait(Math.max(0, Math.min(ahead + TICK_MS, deadline - performance.now())));
}

const REMEMBERED = 10_000;
/** One is enough as a rule; where the stamping of an edited filter has failed, none is before it was tried again. */
const MOST_RAISES = 20;

/** What is to be shown: a window of a mark up to `to`, judged by a service's filter if there is one. */
export interface PageWish {
  mark: MarkKey;
  to: Date;
  /** Whether it is for the first page of its feed. */
  isFirst: boolean;
  /** The time from which the client goes on; nothing where it names none. */
  goesOnFrom?: Date | undefined;
  service: InForce | undefined;
}

/** What is shown: the database as of a cluster time. */
export interface Shown {
  /** What was asked; where that lies beyond what is waited for, the clock value that the moment announced. */
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
export class PageMoment {
  /** What is shown instead of a moment that the server does not hold any more: the same for all further pages. */
  private readonly instead = new LRUCache<string, mongo.Timestamp>(atMost(REMEMBERED));

  constructor(
    @Inject(SETTINGS) private readonly settings: Settings,
    private readonly progress: ProgressReader,
    private readonly moments: Moments,
    private readonly raiser: MarkRaiser,
    private readonly filters: FiltersInForce,
    private readonly announced: Announced,
    private readonly unwatched: UnwatchedFeeds,
  ) {}

  /**
   * Throws 503 `preparing`, `not-watched` where the watcher or the stamping of the service's edited filter does not come far
   * enough in time (it names the service, or the application that is worked through beside all others), 400 where `to` lies too
   * far ahead for a further page, and 410 `source-restored`. The page has waited `since` then, also for moments that were found in
   * vain.
   */
  async find(wish: PageWish, since = performance.now()): Promise<Shown> {
    const shown = await this.found(wish, since);
    this.unwatched.served();
    return shown;
  }

  private async found(wish: PageWish, since: number): Promise<Shown> {
    const { mark, to, service, goesOnFrom } = wish;
    let notBefore = service && this.filters.knownFrom(service);
    let look = await this.moments.serving(mark, to, notBefore);
    const { aim, needed } =
      look.moment === undefined ? await this.aimOf(wish, look) : { aim: 'reached', needed: to };
    // A raise would announce the time: it is checked first.
    if (goesOnFrom !== undefined && (look.moment === undefined || goesOnFrom > look.moment.fence))
      await this.announced.assertAnnounced(mark, goesOnFrom);
    let isAwaited = aim === 'awaited';
    const deadline = since + patienceOf({ to: needed, clock: look.clock }, this.settings.markWait);
    for (let raises = 0; ;) {
      const at = look.moment && (await this.placeOf(wish, look, look.moment.at));
      if (at !== undefined && look.moment !== undefined)
        return { to: aim === 'clock' ? upToMoment(look, needed, to) : to, at, moment: look.moment.at };
      const newest = service && look.moment && (await this.newestOf(mark, service));
      if (newest !== undefined) notBefore = newest;
      else {
        if (isAwaited) {
          isAwaited = false;
          await clockReaches(to, look.clock, deadline);
          look = await this.moments.serving(mark, needed, notBefore);
          if (look.moment !== undefined) continue;
        }
        const stamping = service && (await this.filters.unsettled(service, deadline));
        if (service !== undefined && stamping !== undefined)
          throw problems.beingStamped({ ...service.of, ...waitingFor(mark, stamping) });
        if (raises === MOST_RAISES) throw problems.notWatched(waitingAt(mark, look));
        await this.raised(mark, look, deadline);
        raises += 1;
      }
      look = await this.moments.serving(mark, needed, notBefore);
    }
  }

  /** Throws 503 `preparing`, and 400 where `to` lies too far ahead for a further page: no wait, no moment is needed. */
  async assertAllowed(wish: Omit<PageWish, 'service'>): Promise<void> {
    await this.aimOf(wish, await this.progress.read(wish.mark));
  }

  /** Raises the mark and waits until the watcher has passed it; 503 `not-watched` where that takes too long. */
  private async raised(mark: MarkKey, look: ProgressLook, deadline: number): Promise<void> {
    const leftMs = Math.max(0, deadline - performance.now());
    if (await this.raiser.passed(mark, leftMs)) return;
    // Nothing is wrong with the instance: it waits for the application's own bulk.
    if (look.isAside) throw problems.workedAside(waitingAt(mark, look));
    this.unwatched.refused();
    throw problems.notWatched(waitingAt(mark, look));
  }

  private async aimOf(
    { mark, to, isFirst }: Omit<PageWish, 'service'>,
    { clock }: ProgressLook,
  ): Promise<{ aim: Exclude<Aim, 'refused'>; needed: Date }> {
    const fence = to > clock ? await this.announced.fence(mark) : undefined;
    const aim = aimOf({ to, clock, fence, isFirst }, this.settings.markWait);
    if (aim === 'refused') throw problems.invalidRequest([{ parameter: 'to', detail: inTheFuture(to) }]);
    return { aim, needed: aim === 'clock' ? fenceAfterRaise(fence, clock) : to };
  }

  /**
   * What is shown where the server does not hold it any more: the same window as of where the watcher is. Throws as
   * {@link find}, and `not-watched` also where the filter was changed meanwhile.
   */
  async insteadOf(shown: Shown, wish: PageWish): Promise<Shown> {
    const { watched } = await this.progress.read(wish.mark);
    this.instead.set(nameOf(wish.mark, shown.moment), watched);
    const next = await this.find({ ...wish, to: shown.to }).catch((error: unknown) => {
      throw error instanceof OutdatedServiceError ? problems.notWatched() : error;
    });
    if (next.to < shown.to) throw problems.notWatched();
    return next;
  }

  /** The moment itself, or what is shown instead of it; nothing where the filter was another one then. */
  private async placeOf(
    { mark, service }: PageWish,
    { progress, watched }: MomentLook,
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

function inTheFuture(to: Date): string {
  return `"${to.toISOString()}" lies in the future: send the Tidemark-To of the first page as to, such as to=2026-11-20T10:00:00.000Z.`;
}

/** The clock value that the moment announced: it may be the fence of a faster clock of before. */
function upToMoment({ moment, clock }: MomentLook, needed: Date, asked: Date): Date {
  const latest = later(clock, needed);
  return earlier(asked, earlier(moment?.fence ?? latest, latest));
}
