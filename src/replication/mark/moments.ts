import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import type { mongo } from 'mongoose';
import { atMost } from '../../common/index.js';
import { KnownProgress, type ProgressLook, ProgressReader } from '../progress/index.js';
import { KnownMoments } from './known-moments.js';
import { type MarkKey, markKey, markName } from './mark.js';
import { isShown, type Moment, newestMoment, servingMoment } from './moment.js';
import { MOMENTS } from './moment.schema.js';

const REMEMBERED = 10_000;
const ALONG_FENCE = { fence: 1, at: 1 };
const FROM_THE_NEWEST = { fence: -1, at: -1 };

/** The watcher's progress at one look, and the moment that was looked for. */
export interface MomentLook extends ProgressLook {
  moment?: Moment;
}

/**
 * The one door through which feeds and `max` come to a moment: as it is known, else as the database has it. Every look throws
 * 503 `preparing` during a pass.
 */
@Injectable()
export class Moments {
  /**
   * The moments that served windows. None will ever have a smaller fence, so each serves its window as long as it can be
   * shown, and all that is left to look at is how far the watcher has come.
   */
  private readonly known = new LRUCache<string, Moment>(atMost(REMEMBERED));

  constructor(
    private readonly progress: ProgressReader,
    private readonly knownProgress: KnownProgress,
    private readonly knownMoments: KnownMoments,
  ) {}

  /** The moment that serves a window up to `to`, from a cluster time on if that is given. */
  async serving(mark: MarkKey, to: Date, notBefore?: mongo.Timestamp): Promise<MomentLook> {
    const name = `${markName(mark)} ${to.getTime()} ${notBefore?.toBigInt()}`;
    const remembered = await this.remembered(mark, name);
    if (remembered !== undefined) return remembered;
    const known = await this.knownMoments.serving(mark, to, notBefore);
    if (known !== undefined) {
      this.known.set(name, known.moment);
      return withMoment(known.look, known.moment);
    }
    const from = notBefore === undefined ? [] : [{ $gte: ['$at', notBefore] }];
    const { moments, ...look } = await this.look(
      mark,
      momentsOf(mark, { fence: { $gte: to } }, from, ALONG_FENCE),
    );
    const moment = servingMoment(moments, look.progress, to, notBefore);
    if (moment !== undefined) this.known.set(name, moment);
    return withMoment(look, moment);
  }

  /** The newest moment that can be shown. */
  async newest(mark: MarkKey): Promise<MomentLook> {
    const known = await this.knownMoments.newest(mark);
    if (known !== undefined) return withMoment(known.look, known.moment);
    const { moments, ...look } = await this.look(mark, momentsOf(mark, {}, [], FROM_THE_NEWEST));
    return withMoment(look, newestMoment(moments, look.progress));
  }

  private async remembered(mark: MarkKey, name: string): Promise<MomentLook | undefined> {
    const moment = this.known.get(name);
    if (moment === undefined) return undefined;
    const look = (await this.knownProgress.look(mark)) ?? (await this.progress.read(mark));
    return isShown(moment, look.progress) ? { ...look, moment } : undefined;
  }

  private async look(mark: MarkKey, stages: mongo.Document[]): Promise<ProgressLook & { moments: Moment[] }> {
    const { moments = [], ...look } = await this.progress.readWith<{ moments: Moment[] }>(mark, stages);
    return { ...look, moments };
  }
}

/** At most one moment that can be shown, joined in the same query: both are seen as they stand at one time. */
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

function withMoment(look: ProgressLook, moment: Moment | undefined): MomentLook {
  return { ...look, ...(moment && { moment }) };
}
