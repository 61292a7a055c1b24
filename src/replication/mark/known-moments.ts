import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import mongoose, { type mongo } from 'mongoose';
import { atMost, later } from '../../common/index.js';
import { type ControlChange, ControlStream, type Follower } from '../../control/index.js';
import { KnownProgress, type ProgressLook } from '../progress/index.js';
import { type MarkKey, markName } from './mark.js';
import { type Moment, newestMoment, servingMoment, type StoredMoment } from './moment.js';
import { MOMENTS } from './moment.schema.js';

const MARKS_REMEMBERED = 10_000;
/** Of each mark the newest ones. */
const MOMENTS_REMEMBERED = 16;

/** A moment that serves, and the progress by which it does. */
export interface KnownMoment {
  look: ProgressLook;
  moment: Moment;
}

/**
 * The moments that this instance has heard of, without asking. Those that it has not heard of are older, and so their
 * fences are no higher than those of any that it knows.
 */
@Injectable()
export class KnownMoments implements Follower {
  readonly collection = MOMENTS;
  readonly told = ['organizationid', 'appid', 'kind', 'fence', 'at'] as const;
  private readonly byMark = new LRUCache<string, Moment[]>(atMost(MARKS_REMEMBERED));

  constructor(
    control: ControlStream,
    private readonly progress: KnownProgress,
  ) {
    control.follow(this);
  }

  /** Nothing where it is not known whether an older one would serve as well. */
  async serving(mark: MarkKey, to: Date, notBefore?: mongo.Timestamp): Promise<KnownMoment | undefined> {
    const look = await this.progress.look(mark);
    const moments = this.byMark.get(markName(mark)) ?? [];
    if (look === undefined || !moments.some(({ fence }) => fence < to)) return undefined;
    const moment = servingMoment(moments, look.progress, to, notBefore);
    return moment && { look, moment };
  }

  /** The newest moment that can be shown. */
  async newest(mark: MarkKey): Promise<KnownMoment | undefined> {
    const look = await this.progress.look(mark);
    const moment = look && newestMoment(this.byMark.get(markName(mark)) ?? [], look.progress);
    return look && moment && { look, moment };
  }

  /** The highest fence that this instance has heard of. */
  highestFence(mark: MarkKey): Date | undefined {
    const fences = (this.byMark.get(markName(mark)) ?? []).map(({ fence }) => fence);
    return fences.length === 0 ? undefined : fences.reduce(later);
  }

  /** They are never changed, and what expires can be shown no longer than the server keeps it. */
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
