import { Injectable, Logger } from '@nestjs/common';
import { InjectConnection } from '@nestjs/mongoose';
import { type Connection, mongo } from 'mongoose';
import { recordsIn, FIRST_ID } from '../../../record/index.js';
import { type Kind, kindNames, PerKind, pluralOfKind } from '../../../kinds/index.js';
import { ForeignIdCount, FOREIGN_IDS } from './foreign-ids.js';
import { isTimeout, readAsOf } from '../../../platform/database/index.js';
import { Metrics } from '../../../platform/observability/index.js';
import { type Rival, ALL, type AppShare, type LogPlace } from '../../protocol/index.js';
import { IncompleteIdentities, type Job, OF_JOBS, WorkedThrough } from '../../store/index.js';
import { isDeliverable, type PresentRecord } from './present-record.js';

const MOST_REMEMBERED = 10_000;
const SLICE = 10_000;

/** What one term knows of ignored records, and its position in the search for them. */
class IgnoredCounts {
  readonly foreignIds = new PerKind(() => new ForeignIdCount());
  /** No entry until they are counted for the first time. */
  readonly rivals = new Map<Kind, number>();
  readonly unassigned = new PerKind(() => new Set<string>());
  /** The kind that is searched, and the last record that was read. */
  kind: Kind = kindNames()[0]!;
  behind = FIRST_ID;
  /** Number of records in the next slice: fewer after a slice that has taken too long. */
  size = SLICE;
  private found = new Set<string>();
  /** Records that became valid or were deleted while a slice is read, which may have read them before that. */
  private rightMeanwhile: Set<string> | undefined;
  private turns = 0;
  private readonly counted = new Map<Kind, number>();

  remember(kind: Kind, key: string): void {
    for (const set of [this.unassigned.of(kind), ...(kind === this.kind ? [this.found] : [])])
      if (set.size < MOST_REMEMBERED) set.add(key);
  }

  forget(kind: Kind, key: string): void {
    this.unassigned.of(kind).delete(key);
    if (kind !== this.kind) return;
    this.found.delete(key);
    this.rightMeanwhile?.add(key);
  }

  /** Adds the records that a slice has found, except those that are valid or gone by then. */
  async rememberThose(kind: Kind, read: () => Promise<string[]>): Promise<void> {
    const right = (this.rightMeanwhile = new Set());
    const found = await read().finally(() => (this.rightMeanwhile = undefined));
    for (const key of found) if (!right.has(key)) this.remember(kind, key);
  }

  /** The kind was searched completely: records that were not found are no longer ignored. The next kind follows. */
  endRound(): void {
    this.unassigned.set(this.kind, this.found);
    this.kind = kindNames()[(kindNames().indexOf(this.kind) + 1) % kindNames().length]!;
    this.behind = FIRST_ID;
    this.found = new Set();
  }

  /** Of two concurrent counts, the one that began later is kept. */
  async countRivals(kind: Kind, count: () => Promise<number>): Promise<void> {
    const turn = ++this.turns;
    const rivals = await count();
    if (turn <= (this.counted.get(kind) ?? 0)) return;
    this.rivals.set(kind, rivals);
    this.counted.set(kind, turn);
  }

  total(kind: Kind): number {
    return this.foreignIds.of(kind).count + this.unassigned.of(kind).size + (this.rivals.get(kind) ?? 0);
  }
}

const MOST_COUNTED = 1_000_000;
const SHORTEST_PAUSE_MS = 20;
const BETWEEN_ROUNDS_MS = 600_000;
/** Share of the database's time that the search may take: a round reads every record. */
const SHARE = 1 / 20;
const LONGEST_MS = 10_000;
const IS_UNASSIGNED = {
  $or: [{ $ne: [{ $type: '$organizationid' }, 'string'] }, { $ne: [{ $type: '$appid' }, 'string'] }],
};

/** An event of a record that was inserted, changed or deleted. */
interface Heard {
  type: 'written' | 'deleted';
  owner: unknown;
  place: LogPlace;
  /** It was inserted. */
  isNew?: true;
}

interface Slice {
  last: mongo.ObjectId;
  count: number;
  unassigned: mongo.ObjectId[];
}

/**
 * Counts and logs the records that can never be delivered (contract §4, `tidemark_ignored_records`): `foreignIds`,
 * whose `_id` is not an ObjectId; `unassigned` records, whose organization or application is not a string; and rivals,
 * whose `id` is a number under which another record is known. Events adjust the counts. Beside the stream, existing
 * records are counted slowly, in rounds with a pause between them.
 */
@Injectable()
export class IgnoredRecords implements Job {
  readonly name = 'The count of ignored records';
  private readonly log = new Logger('Watcher');
  /** Replaced with each term, so that late reads of an earlier term have no effect. */
  private counts = new IgnoredCounts();

  constructor(
    @InjectConnection() private readonly connection: Connection,
    private readonly incomplete: IncompleteIdentities,
    private readonly workedThrough: WorkedThrough,
    private readonly metrics: Metrics,
  ) {}

  /** Reads one slice of a kind. The first slice also counts `foreignIds` and rivals. */
  async step(): Promise<number> {
    const begun = performance.now();
    const { counts } = this;
    const { kind } = counts;
    if (counts.behind.equals(FIRST_ID)) {
      await this.countForeignIds(counts);
      await this.countRivals(kind, counts);
    }
    const last = await this.rememberUnassigned(counts);
    if (last === undefined) counts.endRound();
    else counts.behind = last;
    if (counts === this.counts) this.showCount(kind);
    const isRoundOver = last === undefined && counts.kind === kindNames()[0];
    return isRoundOver ? BETWEEN_ROUNDS_MS : pauseAfterSlice(performance.now() - begun);
  }

  /** Adjusts the counts by events: `foreignIds` that were added or deleted, and `unassigned` records that were deleted. */
  hear(kind: Kind, events: Heard[]): void {
    const foreignIds = events.filter(({ owner }) => !(owner instanceof mongo.ObjectId));
    const written = foreignIds.filter(({ type }) => type === 'written');
    if (written.length > 0)
      this.log.warn(
        `${written.length} ${pluralOfKind(kind)} are ignored: their _id is not an ObjectId, such as ${idKey(written[0]!.owner)}`,
      );
    for (const { type, place, isNew } of foreignIds)
      this.counts.foreignIds.of(kind).move(place, type === 'deleted' ? -1 : isNew ? 1 : 0);
    for (const { type, owner } of events) if (type === 'deleted') this.counts.forget(kind, String(owner));
    this.showCount(kind);
  }

  /** Adjusts the counts by the current state of records. */
  see(kind: Kind, records: PresentRecord[]): void {
    const { counts } = this;
    const fresh: string[] = [];
    for (const record of records) {
      const key = String(record._id);
      if (isDeliverable(record)) counts.forget(kind, key);
      else {
        if (!counts.unassigned.of(kind).has(key)) fresh.push(key);
        counts.remember(kind, key);
      }
    }
    if (fresh.length > 0)
      this.log.warn(
        `${fresh.length} ${pluralOfKind(kind)} are ignored: their organizationid or appid is not a string, such as ${fresh[0]}`,
      );
    this.showCount(kind);
  }

  /** Whether records may be ignored because another record is known under the text of their number. */
  hasRivals(kind: Kind): boolean {
    return this.counts.rivals.get(kind) !== 0;
  }

  /** Logs these rivals, and counts all rivals of the kind anew. */
  async hearRivals(kind: Kind, rivals: Rival[]): Promise<void> {
    const [one] = rivals;
    if (one !== undefined)
      this.log.warn(
        `${rivals.length} ${pluralOfKind(kind)} are ignored: another record is known under the number that is their id, ` +
          `such as ${one.owner} with the id ${one.identity.id}`,
      );
    const { counts } = this;
    await this.countRivals(kind, counts);
    if (counts === this.counts) this.showCount(kind);
  }

  /** Forgets records that are no longer incomplete as of a place in the log, rivals included. */
  async forgetIncomplete(
    kind: Kind,
    owners: mongo.ObjectId[],
    at: LogPlace,
    share: AppShare = ALL,
  ): Promise<void> {
    await this.incomplete.forget(kind, owners, at, share);
    if (this.hasRivals(kind)) await this.hearRivals(kind, []);
  }

  /** Discards the counts, which are outdated once this instance does not lead. */
  reset(): void {
    this.counts = new IgnoredCounts();
    this.metrics.ignoredRecords.reset();
  }

  /** Counts as of the present, independently of the position of the stream. */
  private async countForeignIds({ kind, foreignIds }: IgnoredCounts): Promise<void> {
    const options = { limit: MOST_COUNTED, maxTimeMS: LONGEST_MS, comment: OF_JOBS };
    await foreignIds.of(kind).recount(async () => {
      const { at } = await this.workedThrough.now();
      const count = await readAsOf(this.connection.getClient(), at, (snapshot) =>
        this.records(kind).countDocuments(FOREIGN_IDS, { ...snapshot, ...options }),
      );
      return { at, count };
    });
  }

  private countRivals(kind: Kind, counts: IgnoredCounts): Promise<void> {
    return counts.countRivals(kind, () => this.incomplete.countRivals(kind));
  }

  /** Returns where the slice ended; undefined after the last one. */
  private async rememberUnassigned(counts: IgnoredCounts): Promise<mongo.ObjectId | undefined> {
    const { kind, behind, size } = counts;
    let slice: Slice | undefined;
    await counts.rememberThose(kind, async () => {
      slice = await this.readSlice(kind, behind, size).catch((error: unknown) => {
        if (isTimeout(error)) counts.size = Math.ceil(size / 2);
        throw error;
      });
      return (slice?.unassigned ?? []).map(String);
    });
    counts.size = Math.min(SLICE, size * 2);
    return slice?.count === size ? slice.last : undefined;
  }

  private async readSlice(kind: Kind, behind: mongo.ObjectId, size: number): Promise<Slice | undefined> {
    const [slice] = await this.records(kind)
      .aggregate<Slice>(
        [
          { $match: { _id: { $gt: behind } } },
          { $sort: { _id: 1 } },
          { $limit: size },
          { $project: { unassigned: IS_UNASSIGNED } },
          {
            $group: {
              _id: null,
              last: { $last: '$_id' },
              count: { $sum: 1 },
              unassigned: { $push: { $cond: ['$unassigned', '$_id', '$$REMOVE'] } },
            },
          },
        ],
        { maxTimeMS: LONGEST_MS, comment: OF_JOBS },
      )
      .toArray();
    return slice;
  }

  private showCount(kind: Kind): void {
    this.metrics.ignoredRecords.set({ kind }, this.counts.total(kind));
  }

  private records(kind: Kind): mongo.Collection {
    return recordsIn(this.connection, kind);
  }
}

/** The pause after a slice, from the duration of its reads. Both in milliseconds. */
export function pauseAfterSlice(took: number): number {
  return Math.max(SHORTEST_PAUSE_MS, took * (1 / SHARE - 1));
}

function idKey(id: unknown): string {
  return mongo.BSON.EJSON.stringify({ _id: id });
}
