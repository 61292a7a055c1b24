import { Inject, Injectable } from '@nestjs/common';
import { InjectConnection } from '@nestjs/mongoose';
import { LRUCache } from 'lru-cache';
import type { Connection } from 'mongoose';
import { atMost, SharedReads } from '../../platform/common/index.js';
import { SETTINGS, type Settings } from '../../platform/config/index.js';
import {
  CLOCK,
  FUTURE_TOLERANCE_MS,
  isMomentGone,
  readAsOf,
  type SnapshotOptions,
} from '../../platform/database/index.js';
import { problems } from '../../platform/http/index.js';
import type { Kind } from '../../kinds/index.js';
import type { Tenant } from '../../record/index.js';
import {
  afterRestores,
  type ObservedProgress,
  type MarkKey,
  markName,
  isShown,
  type Moment,
} from '../protocol/index.js';
import {
  type StampRange,
  KnownProgress,
  ProgressReader,
  waitingAt,
  KnownHeads,
  MarkRaiser,
  Moments,
  GreatestStamp,
} from '../store/index.js';

const NONE_YET = new Date(0);
const REMEMBERED = 10_000;
/**
 * Greater stamps are not considered: rule 1 re-stamps the records that have them, and the change stream reports the new
 * stamps.
 */
const NOT_AHEAD = { $add: [CLOCK, FUTURE_TOLERANCE_MS] };

/** The maximum as of the newest moment, and the progress at the time of the read. */
interface Newest {
  /** The greatest stamp as of the moment; undefined without a moment, or if the server no longer holds it. */
  greatest: Date | undefined;
  observed: ObservedProgress;
}

/** The maximum as of a moment. It never changes, because a moment is in the past. */
interface MaxAnswer {
  moment: Moment;
  /** The greatest stamp up to the fence. */
  greatest: Date;
  /** The greatest stamp that is not ahead of the clock, if it is above the fence. */
  above?: Date;
}

/** A raise that a stamp caused, and the maximum as of the newest moment after it. */
interface Round {
  cause: Date;
  result: Promise<Newest>;
}

/** Determines how far it is safe to read. */
@Injectable()
export class MaxService {
  /** The last answer by the name of the mark. */
  private readonly answers = new LRUCache<string, MaxAnswer>(atMost(REMEMBERED));
  private readonly reads = new SharedReads<Newest & { isBeaten: boolean }>();
  private readonly readsAfterRaises = new SharedReads<Newest>();
  private readonly rounds = new Map<string, Round>();

  constructor(
    @InjectConnection() private readonly connection: Connection,
    @Inject(SETTINGS) private readonly settings: Settings,
    private readonly progress: ProgressReader,
    private readonly knownProgress: KnownProgress,
    private readonly heads: KnownHeads,
    private readonly moments: Moments,
    private readonly greatestStamp: GreatestStamp,
    private readonly raiser: MarkRaiser,
  ) {}

  /**
   * The greatest stamp of the kind over records and hard deletes, as of a moment that the watcher has passed, and up to
   * the fence of that moment. It is never later than the announced clock (contract §1). A new moment is requested only
   * if a greater stamp exists, or no moment can be shown. To find out, the head that this instance has cached is
   * compared, without a command; if there is none, the database is queried. A stamp between a backup and its restore is
   * replaced by the time of the restore, because a consumer must not continue from it (410 `source-restored`). Throws
   * 503 `preparing`, and `not-watched` if no moment can be shown even then.
   */
  async max(tenant: Tenant, kind: Kind): Promise<Date> {
    const mark = { ...tenant, kind };
    const { greatest, observed } = await this.greatest(mark);
    const max = afterRestores(greatest, observed.progress.restores);
    const fence = this.answers.get(markName(mark))?.moment.fence;
    // A consumer may continue only from an announced time.
    if (max > greatest && (fence === undefined || fence < max)) await this.raised(mark);
    return max;
  }

  private async greatest(mark: MarkKey): Promise<{ greatest: Date; observed: ObservedProgress }> {
    const known = await this.known(mark);
    if (known?.beatenBy !== undefined) return answered(mark, await this.round(mark, known.beatenBy));
    if (known !== undefined) return known;
    await this.heads.learn(mark);
    const now = await this.reads.share(markName(mark), () => this.read(mark));
    if (now.greatest !== undefined && !now.isBeaten)
      return { greatest: now.greatest, observed: now.observed };
    const { greatest = now.greatest, observed } = await this.raised(mark);
    return answered(mark, { greatest, observed });
  }

  /**
   * The last answer and, if a new moment is needed, the stamp that requires it. A head is compared with the fence, not
   * with the answer: a head never decreases, so once its record is removed or has a lower stamp, it would stay above
   * the answer, and every call would raise the mark. Returns undefined if the database must be queried.
   */
  private async known(
    mark: MarkKey,
  ): Promise<{ greatest: Date; observed: ObservedProgress; beatenBy?: Date } | undefined> {
    const observed = await this.knownProgress.observe(mark);
    const [last, head] = [this.answers.get(markName(mark)), this.heads.of(mark)];
    if (observed === undefined || last === undefined || head === undefined) return undefined;
    const { moment, greatest, above } = last;
    if (!isShown(moment, observed.progress)) return undefined;
    if (head > moment.fence) return { greatest, observed, beatenBy: head };
    return { greatest, observed, ...(above && { beatenBy: above }) };
  }

  /**
   * Shares a running raise and its answer with every caller whose cause is not later, so that each change causes one raise.
   */
  private async round(mark: MarkKey, cause: Date): Promise<Newest> {
    const name = markName(mark);
    const running = this.rounds.get(name);
    if (running !== undefined && running.cause >= cause) return running.result;
    const round = { cause, result: this.raised(mark) };
    this.rounds.set(name, round);
    return round.result.finally(() => {
      if (this.rounds.get(name) === round) this.rounds.delete(name);
    });
  }

  private async raised(mark: MarkKey): Promise<Newest> {
    await this.raiser.passed(mark, this.settings.markWait);
    return this.readsAfterRaises.share(markName(mark), () => this.newest(mark));
  }

  /**
   * The last answer, as long as its moment can be shown and no stamp is greater; otherwise the answer of the newest moment.
   */
  private async read(mark: MarkKey): Promise<Newest & { isBeaten: boolean }> {
    const last = this.answers.get(markName(mark));
    const [seen, isLastBeaten = false] =
      last === undefined
        ? []
        : await Promise.all([this.progress.read(mark), this.isBeaten(mark, last.greatest)]);
    if (last !== undefined && seen !== undefined && !isLastBeaten && isShown(last.moment, seen.progress))
      return { greatest: last.greatest, observed: seen, isBeaten: false };
    const newest = await this.newest(mark);
    const { greatest } = newest;
    const isLast = greatest === undefined || greatest.getTime() === last?.greatest.getTime();
    return { ...newest, isBeaten: isLast ? isLastBeaten : await this.isBeaten(mark, greatest) };
  }

  private async isBeaten(mark: MarkKey, stamp: Date): Promise<boolean> {
    return (await this.greatestStamp.read(mark, { lower: { $gt: stamp }, upTo: NOT_AHEAD })) !== undefined;
  }

  private async newest(mark: MarkKey): Promise<Newest> {
    const { moment, ...observed } = await this.moments.newest(mark);
    return { greatest: moment && (await this.asOf(mark, moment)), observed };
  }

  /** Undefined if the server no longer holds the moment. */
  private async asOf(mark: MarkKey, moment: Moment): Promise<Date | undefined> {
    const { at, fence } = moment;
    const name = markName(mark);
    const last = this.answers.get(name);
    if (last?.moment.at.equals(at)) return last.greatest;
    try {
      const answer = await readAsOf(this.connection.getClient(), at, (snapshot) =>
        this.greatestAsOf(mark, fence, last?.greatest, snapshot),
      );
      this.answers.set(name, { moment, ...answer });
      return answer.greatest;
    } catch (error) {
      if (isMomentGone(error)) return undefined;
      throw error;
    }
  }

  /**
   * Takes one to three reads. One is enough if no stamp is above the fence, and the maximum has not decreased since
   * `last`.
   */
  private async greatestAsOf(
    mark: MarkKey,
    fence: Date,
    last: Date | undefined,
    snapshot: SnapshotOptions,
  ): Promise<Omit<MaxAnswer, 'moment'>> {
    const read = (start: Date, upTo: StampRange['upTo'] = NOT_AHEAD) =>
      this.greatestStamp.read(mark, { lower: { $gte: start }, upTo }, snapshot);
    const start = last ?? NONE_YET;
    const greatest = await read(start);
    if (greatest === undefined && last !== undefined)
      return this.greatestAsOf(mark, fence, undefined, snapshot);
    if (greatest === undefined || greatest <= fence) return { greatest: greatest ?? NONE_YET };
    const below = (await read(start, fence)) ?? (last && (await read(NONE_YET, fence)));
    return { greatest: below ?? NONE_YET, above: greatest };
  }
}

function answered(
  mark: MarkKey,
  { greatest, observed }: Newest,
): { greatest: Date; observed: ObservedProgress } {
  if (greatest !== undefined) return { greatest, observed };
  const waiting = waitingAt(mark, observed);
  throw observed.isAside ? problems.workedAside(waiting) : problems.notWatched(waiting);
}
