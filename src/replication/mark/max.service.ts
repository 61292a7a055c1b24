import { Inject, Injectable } from '@nestjs/common';
import { InjectConnection } from '@nestjs/mongoose';
import { LRUCache } from 'lru-cache';
import type { Connection } from 'mongoose';
import { SharedReads } from '../../common/index.js';
import { SETTINGS, type Settings } from '../../config/index.js';
import { CLOCK, isMomentGone, readAsOf } from '../../database/index.js';
import { problems } from '../../http/index.js';
import type { Kind, Tenant } from '../../record/index.js';
import { ProgressReader } from '../progress/index.js';
import { MarkRaiser } from './mark-raiser.js';
import { type MarkKey, markName } from './mark.js';
import { isShown, type Moment } from './moment.js';
import { Moments } from './moments.js';
import { GreatestStamp } from './greatest-stamp.js';

const NONE_YET = new Date(0);
const REMEMBERED = 10_000;

/** What the newest moment says. */
interface Newest {
  /** The database's clock. */
  clock: Date;
  /** The greatest stamp as of the moment; nothing where there is no moment, or the server does not hold it any more. */
  greatest: Date | undefined;
}

/** How far it is safe to read. */
@Injectable()
export class MaxService {
  /** The greatest stamp as of a moment: a fact about the past, by the name of the mark. */
  private readonly answers = new LRUCache<string, { moment: Moment; greatest: Date }>({
    max: REMEMBERED,
  });
  private readonly looks = new SharedReads<Newest & { isBeaten: boolean }>();
  private readonly looksAfterRaises = new SharedReads<Newest>();

  constructor(
    @InjectConnection() private readonly connection: Connection,
    @Inject(SETTINGS) private readonly settings: Settings,
    private readonly progress: ProgressReader,
    private readonly moments: Moments,
    private readonly greatestStamp: GreatestStamp,
    private readonly raiser: MarkRaiser,
  ) {}

  /**
   * The greatest stamp of the kind over records and hard deletes as of the newest moment, never later than the
   * database's clock (contract §1). A new moment is asked for only where something has a greater stamp now. Callers
   * share looks, never waits: each has its own time to wait in. Throws 503 `preparing`, and `not-watched` where there
   * is no moment at all.
   */
  async max(tenant: Tenant, kind: Kind): Promise<Date> {
    const mark = { ...tenant, kind };
    const name = markName(mark);
    const now = await this.looks.share(name, () => this.look(mark));
    if (now.greatest !== undefined && !now.isBeaten) return atMost(now.clock, now.greatest);
    await this.raiser.passed(mark, this.settings.markWait);
    const { clock, greatest = now.greatest } = await this.looksAfterRaises.share(name, () =>
      this.newest(mark),
    );
    if (greatest === undefined) throw problems.notWatched();
    return atMost(clock, greatest);
  }

  /** What was answered last stays true as long as its moment can be shown; only where it is beaten others are asked. */
  private async look(mark: MarkKey): Promise<Newest & { isBeaten: boolean }> {
    const last = this.answers.get(markName(mark));
    const [seen, isLastBeaten = false] =
      last === undefined ? [] : await Promise.all([this.progress.read(), this.isBeaten(mark, last.greatest)]);
    if (last !== undefined && seen !== undefined && !isLastBeaten && isShown(last.moment, seen.progress))
      return { clock: seen.clock, greatest: last.greatest, isBeaten: false };
    const newest = await this.newest(mark);
    const { greatest } = newest;
    const isLast = greatest === undefined || greatest.getTime() === last?.greatest.getTime();
    return { ...newest, isBeaten: isLast ? isLastBeaten : await this.isBeaten(mark, greatest) };
  }

  private async isBeaten(mark: MarkKey, stamp: Date): Promise<boolean> {
    return (await this.greatestStamp.read(mark, { lower: { $gt: stamp }, upTo: CLOCK })) !== undefined;
  }

  private async newest(mark: MarkKey): Promise<Newest> {
    const { moment, clock } = await this.moments.newest(mark);
    return { clock, greatest: moment && (await this.asOf(mark, moment)) };
  }

  /** Nothing where the server does not hold the moment any more. */
  private async asOf(mark: MarkKey, moment: Moment): Promise<Date | undefined> {
    const { at, fence } = moment;
    const name = markName(mark);
    const last = this.answers.get(name);
    if (last?.moment.at.equals(at)) return last.greatest;
    try {
      const greatest = await readAsOf(this.connection.getClient(), at, async (snapshot) => {
        const greatestFrom = (start: Date) =>
          this.greatestStamp.read(mark, { lower: { $gte: start }, upTo: fence }, snapshot);
        return (last && (await greatestFrom(last.greatest))) ?? (await greatestFrom(NONE_YET)) ?? NONE_YET;
      });
      this.answers.set(name, { moment, greatest });
      return greatest;
    } catch (error) {
      if (isMomentGone(error)) return undefined;
      throw error;
    }
  }
}

/** After a fail-over to a slower clock a stamp may lie ahead of it for a while. */
function atMost(clock: Date, stamp: Date): Date {
  return stamp < clock ? stamp : clock;
}
