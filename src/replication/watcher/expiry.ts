import { Inject, Injectable, Logger } from '@nestjs/common';
import { InjectModel } from '@nestjs/mongoose';
import mongoose, { type Model, type mongo } from 'mongoose';
import { Metrics } from '../../common/index.js';
import { SETTINGS, type Settings } from '../../config/index.js';
import { Horizon, LEDGER_MODEL, type LedgerEntry } from '../ledger/index.js';
import { type MarkKey, markKey } from '../mark/index.js';
import type { Job } from './upkeep.js';
import { WorkedThrough } from './worked-through.js';

const EVERY_MS = 3_600_000;
const DAY_MS = 86_400_000;
const AT_ONCE = 1000;
const ALONG_STAMPS = { organizationid: 1, appid: 1, kind: 1, lastupdated: 1, _id: 1 } as const;
const LAST = new mongoose.mongo.MaxKey();

/**
 * Removes hard deletes that are kept no longer (`TOMBSTONE_RETENTION_DAYS`). No change is lost by it: the horizon moves
 * to the newest of them before anything is removed, and feeds look at it after they have read, so that whoever asks from before it is told to
 * start over (410), and whoever asks from a later point is owed none of what is gone. A tombstone may itself have come
 * too late for somebody, but is stamped anew then (rule 2), and nothing goes before the watcher has come to that.
 */
@Injectable()
export class Expiry implements Job {
  readonly name = 'The removal of expired hard deletes';
  private readonly log = new Logger('Upkeep');

  constructor(
    @InjectModel(LEDGER_MODEL) private readonly entries: Model<LedgerEntry>,
    @Inject(SETTINGS) private readonly settings: Settings,
    private readonly horizon: Horizon,
    private readonly workedThrough: WorkedThrough,
    private readonly metrics: Metrics,
  ) {}

  async step(stop: AbortSignal): Promise<number> {
    const days = this.settings.tombstoneRetentionDays;
    if (days > 0) await this.expire(days, stop);
    return EVERY_MS;
  }

  private async expire(days: number, stop: AbortSignal): Promise<void> {
    const { at, clock } = await this.workedThrough.now();
    if (!(await this.workedThrough.upTo(at, stop))) return;
    const expired = new Date(clock.getTime() - days * DAY_MS);
    let removed = 0;
    for (let oldest = await this.oldestBehind(undefined); oldest !== undefined && !stop.aborted;) {
      if (oldest.lastupdated! <= expired) removed += await this.removeFrom(oldest, expired, stop);
      oldest = await this.oldestBehind(oldest);
    }
    if (removed > 0) this.log.log(`${removed} hard deletes up to ${expired.toISOString()} are removed`);
  }

  /** The oldest tombstone of the next application and kind: one step along the index for each of them. */
  private async oldestBehind(mark: MarkKey | undefined): Promise<LedgerEntry | undefined> {
    const min = mark && { ...markKey(mark), lastupdated: LAST, _id: LAST };
    const [oldest] = await this.entries.collection
      .find<LedgerEntry>({ alive: false }, { hint: ALONG_STAMPS, limit: 1, ...(min && { min }) })
      .toArray();
    return oldest;
  }

  private async removeFrom(mark: MarkKey, upTo: Date, stop: AbortSignal): Promise<number> {
    const newest = await this.newestUpTo(mark, upTo);
    if (newest === undefined) return 0;
    await this.horizon.moveTo(newest, mark, mark.kind);
    const expired = { ...markKey(mark), alive: false, lastupdated: { $lte: newest } };
    let removed = 0;
    while (!stop.aborted) {
      const ids = await this.idsOf(expired);
      if (ids.length === 0) break;
      const { deletedCount } = await this.entries.collection.deleteMany({ ...expired, _id: { $in: ids } });
      this.metrics.tombstonesExpired.inc(deletedCount);
      removed += deletedCount;
    }
    return removed;
  }

  private async newestUpTo(mark: MarkKey, upTo: Date): Promise<Date | undefined> {
    const [newest] = await this.entries.collection
      .find<LedgerEntry>(
        { ...markKey(mark), alive: false, lastupdated: { $lte: upTo } },
        { hint: ALONG_STAMPS, limit: 1, sort: { lastupdated: -1 } },
      )
      .toArray();
    return newest?.lastupdated;
  }

  private async idsOf(expired: mongo.Document): Promise<mongo.ObjectId[]> {
    const found = await this.entries.collection
      .find<LedgerEntry>(expired, { hint: ALONG_STAMPS, limit: AT_ONCE, projection: { _id: 1 } })
      .toArray();
    return found.map(({ _id }) => _id);
  }
}
