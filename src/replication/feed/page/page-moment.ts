import { setTimeout as wait } from 'node:timers/promises';
import { Inject, Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import type { mongo } from 'mongoose';
import { atMost, earlier, later } from '../../../platform/common/index.js';
import { SETTINGS, type Settings } from '../../../platform/config/index.js';
import { isMomentGone } from '../../../platform/database/index.js';
import { problems } from '../../../platform/http/index.js';
import {
  type InForce,
  FiltersInForce,
  OutdatedServiceError,
  Announced,
  type ObservedMoment,
  Moments,
  MarkRaiser,
  ProgressReader,
  UnwatchedFeeds,
  waitingAt,
  waitingFor,
} from '../../store/index.js';
import {
  fenceAfterRaise,
  wasAnnouncedByReplaced,
  type MarkKey,
  markName,
  type ObservedProgress,
} from '../../protocol/index.js';

/** A page never waits for a `to` further ahead than this, even if MARK_WAIT is longer (milliseconds). */
const FURTHEST_MS = 5000;

/** A page that waits for the clock is answered within this time, unless MARK_WAIT alone is longer (milliseconds). */
const ANSWER_MS = 9000;

/** The database reads its clock only every 10 ms, so it may reach a `to` slightly late (milliseconds). */
const TICK_MS = 20;

/** The `to` of a page, and the clock and fence that it is compared with. All dates are of the database's clock. */
interface AskedTo {
  to: Date;
  clock: Date;
  /** The highest clock value ever announced. After a failover to a slower clock, it may be ahead of the clock. */
  fence: Date | undefined;
  /** Whether it is the first page of its feed. */
  isFirst: boolean;
}

/**
 * How a page treats its `to` (contract §1). `reached`: the clock has reached it, or it was announced before; the page may
 * still have to raise the mark. `awaited`: the page waits until the clock reaches it. `clock`: the current value of the clock
 * is used instead. `refused`: the page is refused, because pages of different moments would lose changes silently.
 */
type EndMode = 'reached' | 'awaited' | 'clock' | 'refused';

export function endModeOf({ to, clock, fence, isFirst }: AskedTo, markWait: number): EndMode {
  if (to <= clock || (fence !== undefined && to <= fence)) return 'reached';
  if (to.getTime() - clock.getTime() <= Math.min(markWait, FURTHEST_MS)) return 'awaited';
  return isFirst ? 'clock' : 'refused';
}

/** The maximum total wait of a page, first for the clock and then for the watcher, in milliseconds. */
export function patienceOf({ to, clock }: Pick<AskedTo, 'to' | 'clock'>, markWait: number): number {
  const ahead = Math.max(0, to.getTime() - clock.getTime());
  return Math.max(markWait, Math.min(markWait + ahead, ANSWER_MS));
}

/**
 * Resolves when the observed clock has reached `to`, assuming that it runs as fast as the local one; at the deadline at the
 * latest.
 */
export async function clockReaches(to: Date, clock: Date, deadline: number): Promise<void> {
  const ahead = to.getTime() - clock.getTime();
  if (ahead > 0) await wait(Math.max(0, Math.min(ahead + TICK_MS, deadline - performance.now())));
}

const OF_REPLACED = 'was announced by a database that a backup has replaced';

const REMEMBERED = 10_000;
/**
 * The maximum number of raises per page. One is usually enough. After a failed stamping of an edited filter, none helps
 * until the stamping is retried.
 */
const MOST_RAISES = 20;

/** The requested content of a page: a window of a mark up to `to`, filtered by a service if there is one. */
export interface PageWish {
  mark: MarkKey;
  to: Date;
  /** Whether it is for the first page of its feed. */
  isFirst: boolean;
  /** The time from which the client continues; undefined if it sends none. */
  continuesFrom?: Date | undefined;
  /** Whether `to` comes from a cursor. It was then announced when the cursor was made. */
  isToOfCursor?: boolean;
  service: InForce | undefined;
}

/** What is shown: the database as of a cluster time. */
export interface Shown {
  /** The requested `to`, or the clock value that the moment announced if the request is too far ahead to wait for. */
  to: Date;
  at: mongo.Timestamp;
  /** The moment that serves the window. `at` is another time only if the server no longer holds this moment. */
  moment: mongo.Timestamp;
}

/**
 * Finds the one moment that a page shows (design §3, Read). Its fence reaches `to`, and the filter at that moment is the one
 * in force now. If no moment qualifies, the mark is raised, and the page waits until the watcher has passed the raise.
 */
@Injectable()
export class PageMoment {
  /** Replacements for moments that the server no longer holds, so that all further pages show the same replacement. */
  private readonly replacements = new LRUCache<string, mongo.Timestamp>(atMost(REMEMBERED));

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
   * Throws 503 `preparing`; 503 `not-watched` if the watcher or the stamping of the service's edited filter does not
   * advance far enough in time (the problem names the service, or the application if it is processed separately from
   * the others); 400 if `to` is too far ahead for a further page; 410 `source-restored`; and OutdatedServiceError if
   * the filter has changed since it was looked up. The time limit counts from `since`, the beginning of the first
   * attempt.
   */
  async find(wish: PageWish, since = performance.now()): Promise<Shown> {
    const shown = await this.found(wish, since);
    this.unwatched.served();
    return shown;
  }

  private async found(wish: PageWish, since: number): Promise<Shown> {
    const { mark, to, service, continuesFrom } = wish;
    let notBefore = service && this.filters.knownFrom(service);
    let observed = await this.moments.serving(mark, to, notBefore);
    const { mode, needed } =
      observed.moment === undefined ? await this.endModeOf(wish, observed) : { mode: 'reached', needed: to };
    assertNotReplaced(continuesFrom, observed);
    // `continuesFrom` is checked before the first raise, because a raise may announce it.
    if (
      continuesFrom !== undefined &&
      (observed.moment === undefined || continuesFrom > observed.moment.fence)
    )
      await this.announced.assertAnnounced(mark, continuesFrom);
    let isAwaited = mode === 'awaited';
    const deadline = since + patienceOf({ to: needed, clock: observed.clock }, this.settings.markWait);
    for (let raises = 0; ;) {
      const at = observed.moment && (await this.placeOf(wish, observed, observed.moment.at));
      if (at !== undefined && observed.moment !== undefined) {
        // A restore may have become known while the page waited.
        assertNotReplaced(continuesFrom, observed);
        return {
          to: mode === 'clock' ? upToMoment(observed, needed, to) : to,
          at,
          moment: observed.moment.at,
        };
      }
      const newest = service && observed.moment && (await this.newestOf(mark, service));
      if (newest !== undefined) notBefore = newest;
      else {
        if (isAwaited) {
          isAwaited = false;
          await clockReaches(to, observed.clock, deadline);
          observed = await this.moments.serving(mark, needed, notBefore);
          if (observed.moment !== undefined) continue;
        }
        const stamping = service && (await this.filters.unsettled(service, deadline));
        if (service !== undefined && stamping !== undefined)
          throw problems.beingStamped({ ...service.of, ...waitingFor(mark, stamping) });
        if (raises === MOST_RAISES) throw problems.notWatched(waitingAt(mark, observed));
        await this.raised(mark, observed, deadline);
        raises += 1;
      }
      observed = await this.moments.serving(mark, needed, notBefore);
    }
  }

  /**
   * Throws 503 `preparing`, and 400 or 410 if `to` is too far ahead for a further page. It neither waits nor needs a moment.
   */
  async assertAllowed(wish: Omit<PageWish, 'service'>): Promise<void> {
    await this.endModeOf(wish, await this.progress.read(wish.mark));
  }

  /** Raises the mark and waits until the watcher has passed it. Throws 503 `not-watched` if that takes too long. */
  private async raised(mark: MarkKey, observed: ObservedProgress, deadline: number): Promise<void> {
    const leftMs = Math.max(0, deadline - performance.now());
    if (await this.raiser.passed(mark, leftMs)) return;
    // Not noted as `refused`: the instance is healthy, and the page waits only for the bulk changes of its application.
    if (observed.isAside) throw problems.workedAside(waitingAt(mark, observed));
    this.unwatched.refused();
    throw problems.notWatched(waitingAt(mark, observed));
  }

  private async endModeOf(
    { mark, to, isFirst, isToOfCursor }: Omit<PageWish, 'service'>,
    { clock }: ObservedProgress,
  ): Promise<{ mode: Exclude<EndMode, 'refused'>; needed: Date }> {
    const fence = to > clock ? await this.announced.fence(mark) : undefined;
    const mode = endModeOf({ to, clock, fence, isFirst }, this.settings.markWait);
    if (mode === 'refused') {
      if (isToOfCursor === true) await this.announced.assertAnnounced(mark, to);
      throw problems.invalidRequest([{ parameter: 'to', detail: inTheFuture(to) }]);
    }
    return { mode, needed: mode === 'clock' ? fenceAfterRaise(fence, clock) : to };
  }

  /**
   * The replacement for a moment that the server no longer holds: the same window as of the current position of the watcher.
   * Throws the errors of {@link find}, but `not-watched` if the filter changed meanwhile or the window would end
   * earlier.
   */
  async insteadOf(shown: Shown, wish: PageWish): Promise<Shown> {
    const { watched } = await this.progress.read(wish.mark);
    this.replacements.set(momentKey(wish.mark, shown.moment), watched);
    const next = await this.find({ ...wish, to: shown.to }).catch((error: unknown) => {
      throw error instanceof OutdatedServiceError ? problems.notWatched() : error;
    });
    if (next.to < shown.to) throw problems.notWatched();
    return next;
  }

  /**
   * The moment or its replacement; undefined if an earlier filter was in force at that time, or re-stamps for the
   * present one were pending.
   */
  private async placeOf(
    { mark, service }: PageWish,
    { progress, watched }: ObservedMoment,
    moment: mongo.Timestamp,
  ): Promise<mongo.Timestamp | undefined> {
    const replacement = this.replacements.get(momentKey(mark, moment));
    const isUsable =
      replacement !== undefined && progress.since !== undefined && replacement.compare(progress.since) >= 0;
    const place = isUsable ? replacement : moment;
    const shows = async (at: mongo.Timestamp) =>
      service === undefined || (await this.filters.isShown(service, at)) ? at : undefined;
    return shows(place).catch((error: unknown) => {
      if (!isMomentGone(error)) throw error;
      this.replacements.set(momentKey(mark, moment), watched);
      return shows(watched);
    });
  }

  /**
   * The newest moment, if it shows the filter in force; otherwise undefined. To be called when the moment that serves
   * the window does not show that filter. The page is then served by a moment that is not earlier than the returned
   * one.
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

/** Throws 410 `source-restored` if the time was announced by a database that a restore has replaced. */
function assertNotReplaced(time: Date | undefined, { progress }: ObservedProgress): void {
  if (time !== undefined && wasAnnouncedByReplaced(time, progress.restores))
    throw problems.sourceRestored(time.toISOString(), OF_REPLACED);
}

function momentKey(mark: MarkKey, moment: mongo.Timestamp): string {
  return `${markName(mark)} ${moment.toBigInt()}`;
}

function inTheFuture(to: Date): string {
  return (
    `"${to.toISOString()}" lies in the future. Send the Tidemark-To of the first page, ` +
    'such as to=2026-11-20T10:00:00.000Z.'
  );
}

/**
 * The fence of the moment, but at most the requested `to`, and at most the later of the clock and `needed`, the fence
 * that the page had to wait for. After a failover to a slower clock, fences may be ahead of the clock.
 */
function upToMoment({ moment, clock }: ObservedMoment, needed: Date, asked: Date): Date {
  const latest = later(clock, needed);
  return earlier(asked, earlier(moment?.fence ?? latest, latest));
}
