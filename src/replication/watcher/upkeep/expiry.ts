import { Injectable, Inject, Logger } from '@nestjs/common';
import { InjectConnection, InjectModel } from '@nestjs/mongoose';
import mongoose, { type Connection, type Model, type mongo } from 'mongoose';
import { collectionOf, type Kind, kindNames } from '../../../kinds/index.js';
import { SETTINGS, type Settings } from '../../../platform/config/index.js';
import { alongIndex, isDatabaseAway, isIndexMissing, isRetryable } from '../../../platform/database/index.js';
import { Metrics } from '../../../platform/observability/index.js';
import {
  type ConcernedTombstone,
  Horizon,
  LEDGER_MODEL,
  type LedgerEntry,
  MarkRaiser,
  type Job,
  QUARANTINE,
  TOMBSTONES_BY_STAMP,
  WorkedThrough,
} from '../../store/index.js';
import { isIn, type MarkKey, markKey } from '../../protocol/index.js';

/** Detects changes of the record collections themselves: of their validators, or a replacement by another collection. */
@Injectable()
export class CollectionOptions {
  private readonly seen = new Map<Kind, string>();

  constructor(@InjectConnection() private readonly connection: Connection) {}

  /** The kinds whose collection has changed since the last call. */
  async changed(): Promise<Kind[]> {
    const names = kindNames().map((kind) => collectionOf(kind));
    const which = { name: { $in: names } };
    const found = await this.connection.db!.listCollections(which, { nameOnly: false }).toArray();
    const now = new Map(found.map(({ name, ...rest }) => [name, JSON.stringify(rest)]));
    return kindNames().filter((kind) => {
      const before = this.seen.get(kind);
      const present = now.get(collectionOf(kind)) ?? '';
      this.seen.set(kind, present);
      return before !== undefined && before !== present;
    });
  }
}

const EVERY_MS = 3_600_000;
/** Pause after a step that has left out applications (milliseconds). */
const LEFT_OUT_MS = 60_000;
const DAY_MS = 86_400_000;
const AT_ONCE = 1000;
const FIRST = new mongoose.mongo.MinKey();
const LAST = new mongoose.mongo.MaxKey();

/**
 * Removes hard deletes whose retention has ended (`TOMBSTONE_RETENTION_DAYS`). The removal loses no change. The horizon
 * moves to the newest of them before anything is removed, and feeds check the horizon after they have read. So a
 * consumer that asks from before the horizon is answered 410 and starts over, and one that asks from a later time needs
 * none of the removed deletes. A tombstone may itself have come too late for a consumer. It is then re-stamped (rule
 * 2), and nothing of its application is removed before the watcher has done that. One in quarantine is kept until then.
 *
 * A consumer that starts over continues from `max`. If `max` were before the horizon, the consumer would be answered
 * 410 forever. Two things prevent this. First, the tombstones with the greatest stamp of their application and kind are
 * kept regardless of their age, and only older ones are removed. `max` includes them while they remain tombstones and
 * do not change. Second, the mark is raised before the removal. If something happens to them afterwards (the `id` lives
 * again, and its record is given an old stamp, moved or deleted once more), the result lies above the fence, by rules 1
 * to 4, and so above everything that was removed.
 */
@Injectable()
export class Expiry implements Job {
  readonly name = 'The removal of expired hard deletes';
  private readonly log = new Logger('Upkeep');
  private readonly leftOutMs = LEFT_OUT_MS;

  constructor(
    @InjectModel(LEDGER_MODEL) private readonly entries: Model<LedgerEntry>,
    @Inject(SETTINGS) private readonly settings: Settings,
    private readonly horizon: Horizon,
    private readonly workedThrough: WorkedThrough,
    private readonly raiser: MarkRaiser,
    private readonly metrics: Metrics,
  ) {}

  async step(stop: AbortSignal): Promise<number> {
    const days = this.settings.tombstoneRetentionDays;
    if (days <= 0 || (await this.expire(days, stop))) return EVERY_MS;
    return this.leftOutMs;
  }

  /**
   * Returns false if applications or kinds with expired hard deletes were left out, because they are not processed up to now,
   * their mark was not passed in time, or MongoDB has refused a write; also if a pass over everything has ended meanwhile.
   */
  private async expire(days: number, stop: AbortSignal): Promise<boolean> {
    const { at, clock } = await this.workedThrough.now();
    const processed = await this.workedThrough.upTo(at, stop);
    if (processed === undefined) return false;
    const { share, withoutKinds } = processed;
    let isWhole = true;
    const expired = new Date(clock.getTime() - days * DAY_MS);
    let removed = 0;
    for (let oldest = await this.oldestBehind(undefined); oldest !== undefined && !stop.aborted;) {
      if (oldest.lastupdated! <= expired) {
        const isDue = isIn(share, oldest) && !withoutKinds.includes(oldest.kind);
        const count = isDue ? await this.removeOrLeave(oldest, expired, stop) : undefined;
        removed += count ?? 0;
        isWhole &&= count !== undefined;
      }
      oldest = await this.oldestBehind(oldest);
    }
    if (removed > 0) this.log.log(`${removed} hard deletes up to ${expired.toISOString()} are removed`);
    return isWhole;
  }

  /** The oldest tombstone of the next application and kind: one step along the index for each. */
  private async oldestBehind(mark: MarkKey | undefined): Promise<LedgerEntry | undefined> {
    const min = mark && { ...markKey(mark), lastupdated: LAST, _id: LAST };
    const [oldest] = await this.alongStamps({ alive: false }, { limit: 1, ...(min && { min }) });
    return oldest;
  }

  /** Like {@link removeFrom}, but leaves out an application if MongoDB refuses a write of it. */
  private removeOrLeave(mark: MarkKey, upTo: Date, stop: AbortSignal): Promise<number | undefined> {
    return this.removeFrom(mark, upTo, stop).catch((error: unknown) => {
      if (stop.aborted || isDatabaseAway(error) || isRetryable(error) || isIndexMissing(error)) throw error;
      const { organizationid, appid, kind } = mark;
      const whose = `${kind} of ${organizationid}/${appid}`;
      this.log.error({ err: error as Error }, `Expired hard deletes (${whose}) cannot be removed`);
      return undefined;
    });
  }

  /** Returns how many were removed; undefined if the mark was not passed in time. */
  private async removeFrom(mark: MarkKey, upTo: Date, stop: AbortSignal): Promise<number | undefined> {
    if ((await this.lastToGo(mark, upTo)) === undefined) return 0;
    if (!(await this.raiser.passed(mark, this.settings.markWait))) return undefined;
    const newest = await this.lastToGo(mark, upTo);
    if (newest === undefined) return 0;
    await this.horizon.moveTo(newest, mark, mark.kind);
    const expired = { ...markKey(mark), alive: false, lastupdated: { $lte: newest } };
    const end = { ...markKey(mark), lastupdated: newest, _id: LAST };
    let place = { ...markKey(mark), lastupdated: FIRST, _id: FIRST } as mongo.Document;
    const projection = { _id: 1, lastupdated: 1 };
    let removed = 0;
    while (!stop.aborted) {
      const some = await this.alongStamps(expired, { limit: AT_ONCE, projection, min: place, max: end });
      const ids = some.map(({ _id }) => _id);
      const _id = { $in: await this.notSetAside(ids) };
      const { deletedCount } = await this.entries.collection.deleteMany({ ...expired, _id });
      this.metrics.tombstonesExpired.inc(deletedCount);
      removed += deletedCount;
      if (some.length < AT_ONCE) break;
      const { lastupdated, _id: last } = some.at(-1)!;
      place = { ...markKey(mark), lastupdated, _id: last };
    }
    return removed;
  }

  /** The greatest stamp of the tombstones to remove: those that are expired and older than the newest of all. */
  private async lastToGo(mark: MarkKey, upTo: Date): Promise<Date | undefined> {
    const newest = await this.greatest(mark, {});
    if (newest === undefined) return undefined;
    return this.greatest(mark, { lastupdated: newest <= upTo ? { $lt: newest } : { $lte: upTo } });
  }

  private async greatest(mark: MarkKey, within: mongo.Document): Promise<Date | undefined> {
    const query = { ...markKey(mark), alive: false, ...within };
    const [newest] = await this.alongStamps(query, { limit: 1, sort: { lastupdated: -1 } });
    return newest?.lastupdated;
  }

  /** Those of these tombstones that are not in quarantine. */
  private async notSetAside(ids: mongo.ObjectId[]): Promise<mongo.ObjectId[]> {
    const concerns = ids.map((owner): ConcernedTombstone => ({ what: 'tombstone', owner }));
    const quarantine = this.entries.db.collection<{ _id: ConcernedTombstone }>(QUARANTINE);
    const found = await quarantine.find({ _id: { $in: concerns } }, { projection: { _id: 1 } }).toArray();
    const kept = new Set(found.map(({ _id }) => _id.owner.toHexString()));
    return ids.filter((id) => !kept.has(id.toHexString()));
  }

  private alongStamps(query: mongo.Document, options: mongo.FindOptions): Promise<LedgerEntry[]> {
    const { collection } = this.entries;
    return alongIndex(collection, TOMBSTONES_BY_STAMP, (hint) =>
      collection.find<LedgerEntry>(query, { ...options, hint }).toArray(),
    );
  }
}
