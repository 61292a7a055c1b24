import { Inject, Injectable } from '@nestjs/common';
import { InjectConnection } from '@nestjs/mongoose';
import { LRUCache } from 'lru-cache';
import type { Connection } from 'mongoose';
import { atMost, SharedReads } from '../../common/index.js';
import { SETTINGS, type Settings } from '../../config/index.js';
import {
  CLOCK,
  FUTURE_TOLERANCE_MS,
  isMomentGone,
  readAsOf,
  type SnapshotOptions,
} from '../../database/index.js';
import { problems } from '../../http/index.js';
import type { Kind, Tenant } from '../../record/index.js';
import { type ProgressLook, type MarkKey, markName, isShown, type Moment } from '../protocol/index.js';
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
/** What lies beyond it rule 1 has stamped anew, or will: of the new stamp the stream tells. */
const NOT_AHEAD = { $add: [CLOCK, FUTURE_TOLERANCE_MS] };

/** What the newest moment says. */
interface Newest {
  /** The greatest stamp as of the moment; nothing where there is no moment, or the server does not hold it any more. */
  greatest: Date | undefined;
  look: ProgressLook;
}

/** What a moment shows, which is a fact about the past. */
interface MaxAnswer {
  moment: Moment;
  /** The greatest stamp up to the fence. */
  greatest: Date;
  /** The greatest of all that are not ahead of the clock, where that lies above the fence. */
  above?: Date;
}

/** A raise on account of a stamp, and what the newest moment says behind it. */
interface Round {
  cause: Date;
  result: Promise<Newest>;
}

/** How far it is safe to read. */
@Injectable()
export class MaxService {
  /** The last answer by the name of the mark. */
  private readonly answers = new LRUCache<string, MaxAnswer>(atMost(REMEMBERED));
  private readonly looks = new SharedReads<Newest & { isBeaten: boolean }>();
  private readonly looksAfterRaises = new SharedReads<Newest>();
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
   * The greatest stamp of the kind over records and hard deletes as of a moment that was passed, up to its fence: never
   * later than the clock as it was announced (contract §1). A new moment is asked for only where something has a greater stamp: as this instance
   * knows it, without a command, or else as the database has it now. Throws 503 `preparing`, and `not-watched` where
   * there is no moment at all.
   */
  async max(tenant: Tenant, kind: Kind): Promise<Date> {
    const mark = { ...tenant, kind };
    const known = await this.known(mark);
    if (known?.beatenBy !== undefined) return answered(mark, await this.round(mark, known.beatenBy));
    if (known !== undefined) return known.greatest;
    await this.heads.learn(mark);
    const now = await this.looks.share(markName(mark), () => this.look(mark));
    if (now.greatest !== undefined && !now.isBeaten) return now.greatest;
    const { greatest = now.greatest, look } = await this.raised(mark);
    return answered(mark, { greatest, look });
  }

  /**
   * The last answer, and the stamp on account of which a new moment is needed, if there is any. A head is compared with the
   * fence: compared with the answer, one that was lowered or removed would raise the mark for ever. Nothing where the
   * database has to be asked.
   */
  private async known(mark: MarkKey): Promise<{ greatest: Date; beatenBy?: Date } | undefined> {
    const look = await this.knownProgress.look(mark);
    const [last, head] = [this.answers.get(markName(mark)), this.heads.of(mark)];
    if (look === undefined || last === undefined || head === undefined) return undefined;
    const { moment, greatest, above } = last;
    if (!isShown(moment, look.progress)) return undefined;
    if (head > moment.fence) return { greatest, beatenBy: head };
    return { greatest, ...(above && { beatenBy: above }) };
  }

  /** Callers share a raise and what comes behind it, if their cause is no later: there is one for each change. */
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
    return this.looksAfterRaises.share(markName(mark), () => this.newest(mark));
  }

  /** What was answered last stays true as long as its moment can be shown; only where it is beaten others are asked. */
  private async look(mark: MarkKey): Promise<Newest & { isBeaten: boolean }> {
    const last = this.answers.get(markName(mark));
    const [seen, isLastBeaten = false] =
      last === undefined
        ? []
        : await Promise.all([this.progress.read(mark), this.isBeaten(mark, last.greatest)]);
    if (last !== undefined && seen !== undefined && !isLastBeaten && isShown(last.moment, seen.progress))
      return { greatest: last.greatest, look: seen, isBeaten: false };
    const newest = await this.newest(mark);
    const { greatest } = newest;
    const isLast = greatest === undefined || greatest.getTime() === last?.greatest.getTime();
    return { ...newest, isBeaten: isLast ? isLastBeaten : await this.isBeaten(mark, greatest) };
  }

  private async isBeaten(mark: MarkKey, stamp: Date): Promise<boolean> {
    return (await this.greatestStamp.read(mark, { lower: { $gt: stamp }, upTo: NOT_AHEAD })) !== undefined;
  }

  private async newest(mark: MarkKey): Promise<Newest> {
    const { moment, ...look } = await this.moments.newest(mark);
    return { greatest: moment && (await this.asOf(mark, moment)), look };
  }

  /** Nothing where the server does not hold the moment any more. */
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

  /** One read where nothing lies above the fence, and no more than three. */
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

function answered(mark: MarkKey, { greatest, look }: Newest): Date {
  if (greatest !== undefined) return greatest;
  const waiting = waitingAt(mark, look);
  throw look.isAside ? problems.workedAside(waiting) : problems.notWatched(waiting);
}
