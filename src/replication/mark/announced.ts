import { Injectable } from '@nestjs/common';
import { InjectModel } from '@nestjs/mongoose';
import type { Model } from 'mongoose';
import { FUTURE_TOLERANCE_MS } from '../../database/index.js';
import { problems } from '../../http/index.js';
import { ProgressReader } from '../progress/index.js';
import { GreatestStamp } from './greatest-stamp.js';
import { KnownMoments } from './known-moments.js';
import { type Mark, type MarkKey, markKey } from './mark.js';
import { MARK_MODEL, MARKS } from './mark.schema.js';

/** The clock of a client may be ahead of the database's by so much (milliseconds). */
const CLIENT_AHEAD_MS = 5000;
const EARLIEST = new Date(0);

/**
 * What this database has announced of an application and kind. A later time that a client sends comes from another database, such
 * as the one before a restore.
 */
@Injectable()
export class Announced {
  constructor(
    @InjectModel(MARK_MODEL) private readonly marks: Model<Mark>,
    private readonly known: KnownMoments,
    private readonly progress: ProgressReader,
    private readonly greatest: GreatestStamp,
  ) {}

  /** The highest clock value ever announced; nothing before the first one. */
  async fence(mark: MarkKey): Promise<Date | undefined> {
    return (await this.marks.findOne({ _id: markKey(mark) }).lean())?.fence;
  }

  /**
   * Throws 410 `source-restored` where a client goes on from a time that was never announced. The database is read only where the
   * time lies ahead of every fence that this instance knows: another instance may have announced it. Where nothing was announced yet,
   * or there is neither a record nor a hard delete, a time up to the clock may be the client's own.
   */
  async assertAnnounced(mark: MarkKey, time: Date): Promise<void> {
    const known = this.known.highestFence(mark);
    if (known !== undefined && time <= known) return;
    const { clock, fence } = await this.look(mark);
    if (fence !== undefined && time <= fence) return;
    const isUpToClock = time.getTime() - clock.getTime() <= CLIENT_AHEAD_MS;
    if (isUpToClock && (fence === undefined || (await this.isEmpty(mark, clock)))) return;
    throw problems.sourceRestored(time.toISOString());
  }

  private async look(mark: MarkKey): Promise<{ clock: Date; fence: Date | undefined }> {
    const pipeline = [{ $match: { _id: markKey(mark) } }, { $project: { fence: 1 } }];
    const joined = [{ $lookup: { from: MARKS, pipeline, as: 'marks' } }];
    const { clock, marks = [] } = await this.progress.readWith<{ marks: Pick<Mark, 'fence'>[] }>(
      mark,
      joined,
    );
    return { clock, fence: marks[0]?.fence };
  }

  private async isEmpty(mark: MarkKey, clock: Date): Promise<boolean> {
    const upTo = new Date(clock.getTime() + FUTURE_TOLERANCE_MS);
    return (await this.greatest.read(mark, { lower: { $gte: EARLIEST }, upTo })) === undefined;
  }
}
