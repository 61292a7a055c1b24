import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import mongoose, { type mongo, type Model } from 'mongoose';
import { InjectModel } from '@nestjs/mongoose';
import { atMost, later } from '../../platform/common/index.js';
import { type ControlChange, ControlStream, type Follower } from '../../platform/control/index.js';
import { KnownProgress } from './known-progress.js';
import {
  type ObservedProgress,
  type MarkKey,
  markName,
  type Moment,
  newestMoment,
  servingMoment,
  type StoredMoment,
  markKey,
  isShown,
} from '../protocol/index.js';
import { MOMENTS, MOMENT_MODEL } from './collections.schema.js';
import { ProgressReader } from './progress-reader.js';

const MARKS_REMEMBERED = 10_000;
/** For each mark, the newest ones. */
const MOMENTS_REMEMBERED = 16;

/** A moment that can be shown, with the progress that proves it. */
interface KnownMoment {
  observed: ObservedProgress;
  moment: Moment;
}

/**
 * The moments that this instance has received from the control stream, without a query. All other moments are older, so
 * their fences do not exceed that of any known moment.
 */
@Injectable()
export class KnownMoments implements Follower {
  readonly collection = MOMENTS;
  readonly reported = ['organizationid', 'appid', 'kind', 'fence', 'at'] as const;
  private readonly byMark = new LRUCache<string, Moment[]>(atMost(MARKS_REMEMBERED));

  constructor(
    control: ControlStream,
    private readonly progress: KnownProgress,
  ) {
    control.follow(this);
  }

  /**
   * The moment that serves a window up to `to`. Undefined if the progress is not known, if no known moment serves the
   * window, or if an older moment, unknown to this instance, might serve it as well.
   */
  async serving(mark: MarkKey, to: Date, notBefore?: mongo.Timestamp): Promise<KnownMoment | undefined> {
    const observed = await this.progress.observe(mark);
    const moments = this.byMark.get(markName(mark)) ?? [];
    if (observed === undefined || !moments.some(({ fence }) => fence < to)) return undefined;
    const moment = servingMoment(moments, observed.progress, to, notBefore);
    return moment && { observed, moment };
  }

  /** The newest moment that can be shown. */
  async newest(mark: MarkKey): Promise<KnownMoment | undefined> {
    const observed = await this.progress.observe(mark);
    const moment = observed && newestMoment(this.byMark.get(markName(mark)) ?? [], observed.progress);
    return observed && moment && { observed, moment };
  }

  /** The highest fence that this instance has received. */
  highestFence(mark: MarkKey): Date | undefined {
    const fences = (this.byMark.get(markName(mark)) ?? []).map(({ fence }) => fence);
    return fences.length === 0 ? undefined : fences.reduce(later);
  }

  /**
   * Handles only inserts. Moments never change. A moment whose document has expired is kept: it can still be shown if
   * the server retains its snapshot.
   */
  hear({ what, fields }: ControlChange): void {
    if (what !== 'insert') return;
    const { fence, at, ...mark } = fields as StoredMoment;
    if (!(fence instanceof Date && at instanceof mongoose.mongo.Timestamp)) return;
    const name = markName(mark);
    const known = this.byMark.get(name) ?? [];
    this.byMark.set(name, [...known, { fence, at }].slice(-MOMENTS_REMEMBERED));
  }

  forget(): void {
    this.byMark.clear();
  }
}

/** The only writer of `tidemark.moments`. */
@Injectable()
export class MomentWriter {
  constructor(@InjectModel(MOMENT_MODEL) private readonly moments: Model<StoredMoment>) {}

  /**
   * Must be called only after the effects of all earlier events are written: a moment may be shown as soon as `watched`
   * reaches it.
   */
  async write(moments: StoredMoment[]): Promise<void> {
    if (moments.length === 0) return;
    const writes = moments.map(({ passed, ...moment }) => ({
      updateOne: { filter: moment, update: { $setOnInsert: { passed } }, upsert: true },
    }));
    await this.moments.collection.bulkWrite(writes, { ordered: false });
  }
}

const REMEMBERED = 10_000;
const ALONG_FENCE = { fence: 1, at: 1 };
const FROM_THE_NEWEST = { fence: -1, at: -1 };

/** One reading of the watcher's progress, with the requested moment. */
export interface ObservedMoment extends ObservedProgress {
  moment?: Moment;
}

/**
 * The only access of feeds and `max` to a moment: from memory if it is known there, otherwise from the database. Every
 * method throws 503 `preparing` during a pass.
 */
@Injectable()
export class Moments {
  /**
   * The moments that served windows. No later moment has a smaller fence, so each serves its window as long as it can be
   * shown. Only the watcher's progress has to be checked again.
   */
  private readonly known = new LRUCache<string, Moment>(atMost(REMEMBERED));

  constructor(
    private readonly progress: ProgressReader,
    private readonly knownProgress: KnownProgress,
    private readonly knownMoments: KnownMoments,
  ) {}

  /** The moment that serves a window up to `to`. With `notBefore`, only a moment from that cluster time on. */
  async serving(mark: MarkKey, to: Date, notBefore?: mongo.Timestamp): Promise<ObservedMoment> {
    const name = `${markName(mark)} ${to.getTime()} ${notBefore?.toBigInt()}`;
    const remembered = await this.remembered(mark, name);
    if (remembered !== undefined) return remembered;
    const known = await this.knownMoments.serving(mark, to, notBefore);
    if (known !== undefined) {
      this.known.set(name, known.moment);
      return withMoment(known.observed, known.moment);
    }
    const from = notBefore === undefined ? [] : [{ $gte: ['$at', notBefore] }];
    const { moments, ...observed } = await this.observe(
      mark,
      momentsOf(mark, { fence: { $gte: to } }, from, ALONG_FENCE),
    );
    const moment = servingMoment(moments, observed.progress, to, notBefore);
    if (moment !== undefined) this.known.set(name, moment);
    return withMoment(observed, moment);
  }

  /** The newest moment that can be shown. */
  async newest(mark: MarkKey): Promise<ObservedMoment> {
    const known = await this.knownMoments.newest(mark);
    if (known !== undefined) return withMoment(known.observed, known.moment);
    const { moments, ...observed } = await this.observe(mark, momentsOf(mark, {}, [], FROM_THE_NEWEST));
    return withMoment(observed, newestMoment(moments, observed.progress));
  }

  private async remembered(mark: MarkKey, name: string): Promise<ObservedMoment | undefined> {
    const moment = this.known.get(name);
    if (moment === undefined) return undefined;
    const observed = (await this.knownProgress.observe(mark)) ?? (await this.progress.read(mark));
    return isShown(moment, observed.progress) ? { ...observed, moment } : undefined;
  }

  private async observe(
    mark: MarkKey,
    stages: mongo.Document[],
  ): Promise<ObservedProgress & { moments: Moment[] }> {
    const { moments = [], ...observed } = await this.progress.readWith<{ moments: Moment[] }>(mark, stages);
    return { ...observed, moments };
  }
}

/**
 * Stages that join at most one moment that can be shown. A single query reads the progress and the moment as of one time.
 */
function momentsOf(
  mark: MarkKey,
  where: mongo.Document,
  conditions: mongo.Document[],
  order: Record<string, number>,
): mongo.Document[] {
  const shown = [{ $gte: ['$at', '$$since'] }, { $lte: ['$at', '$$watched'] }, ...conditions];
  const pipeline = [
    { $match: { ...markKey(mark), ...where, $expr: { $and: shown } } },
    { $sort: order },
    { $limit: 1 },
    { $project: { _id: 0, fence: 1, at: 1 } },
  ];
  const variables = { since: '$since', watched: '$watched' };
  return [{ $lookup: { from: MOMENTS, let: variables, pipeline, as: 'moments' } }];
}

function withMoment(observed: ObservedProgress, moment: Moment | undefined): ObservedMoment {
  return { ...observed, ...(moment && { moment }) };
}
