import { setTimeout as wait } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { InjectModel } from '@nestjs/mongoose';
import { LRUCache } from 'lru-cache';
import type { Model, mongo } from 'mongoose';
import { problems, SharedReads } from '../../common/index.js';
import { CLOCK } from '../../database/index.js';
import { type MarkKey, markKey, markName } from './mark.js';
import { isPreparing, isShown, type Moment, newestMoment, type Progress, servingMoment } from './moment.js';
import { WATCH_STATE_MODEL, WATCHER, type WatchState } from './watch-state.js';

const LOOK_MS = 100;
const REMEMBERED = 10_000;
const ALONG_FENCE = { fence: 1, at: 1 };
const FROM_THE_NEWEST = { fence: -1, at: -1 };

/** The watcher's progress at one look, and the moment that was looked for. */
export interface Look {
  /** The database's clock. */
  clock: Date;
  progress: Progress;
  /** Everything up to here is worked through. */
  watched: mongo.Timestamp;
  moment?: Moment;
}

/** The one door through which feeds and `max` come to a moment. Every look throws 503 `preparing` during a pass. */
@Injectable()
export class Moments {
  /**
   * The moments that served windows. None will ever have a smaller fence, so each serves its window as long as it can be
   * shown, and all that is left to look at is how far the watcher has come.
   */
  private readonly known = new LRUCache<string, Moment>({ max: REMEMBERED });
  private readonly looks = new SharedReads<Look>();

  constructor(@InjectModel(WATCH_STATE_MODEL) private readonly states: Model<WatchState>) {}

  /** How far the watcher has come. */
  progress(): Promise<Look> {
    return this.looks.of(WATCHER, () => this.look([]));
  }

  /** Whether the first pass has ever ended. */
  async hasBegun(): Promise<boolean> {
    return (await this.states.exists({ _id: WATCHER, since: { $exists: true } })) !== null;
  }

  /** The moment that serves a window up to `to`, from a cluster time on if that is given. */
  async serving(mark: MarkKey, to: Date, notBefore?: mongo.Timestamp): Promise<Look> {
    const name = `${markName(mark)} ${to.getTime()} ${notBefore?.toBigInt()}`;
    const remembered = await this.remembered(name);
    if (remembered !== undefined) return remembered;
    const from = notBefore === undefined ? [] : [{ $gte: ['$at', notBefore] }];
    const look = await this.look(momentsOf(mark, { fence: { $gte: to } }, from, ALONG_FENCE));
    const moment = servingMoment(look.moments, look.progress, to, notBefore);
    if (moment !== undefined) this.known.set(name, moment);
    return withMoment(look, moment);
  }

  /** The newest moment that can be shown. */
  async newest(mark: MarkKey): Promise<Look> {
    const look = await this.look(momentsOf(mark, {}, [], FROM_THE_NEWEST));
    return withMoment(look, newestMoment(look.moments, look.progress));
  }

  /** Resolves when there is something to show, however long it takes. */
  async first(): Promise<void> {
    while ((await this.progress().catch(() => undefined)) === undefined) await wait(LOOK_MS);
  }

  private async remembered(name: string): Promise<Look | undefined> {
    const moment = this.known.get(name);
    if (moment === undefined) return undefined;
    const look = await this.progress();
    return isShown(moment, look.progress) ? { ...look, moment } : undefined;
  }

  private async look(moments: mongo.Document[]): Promise<Look & { moments: Moment[] }> {
    const [state] = await this.states.collection
      .aggregate<Progress & { clock: Date; moments: Moment[] }>([
        { $match: { _id: WATCHER } },
        { $project: { since: 1, watched: 1, pass: 1, clock: CLOCK } },
        ...moments,
      ])
      .toArray();
    if (state?.watched === undefined || isPreparing(state)) throw problems.preparing();
    const { clock, moments: found = [], ...progress } = state;
    return { clock, progress, watched: state.watched, moments: found };
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
  return [{ $lookup: { from: 'moments', let: variables, pipeline, as: 'moments' } }];
}

function withMoment({ clock, progress, watched }: Look, moment: Moment | undefined): Look {
  return { clock, progress, watched, ...(moment && { moment }) };
}
