import type { mongo } from 'mongoose';
import {
  alongIndex,
  isDatabaseAway,
  isDuplicateKey,
  transactionWithin,
} from '../../../platform/database/plain.js';
import { recordsIn, BY_RECORD_ID, type Tenant, withIds } from '../../../record/index.js';
import type { Kind } from '../../../kinds/index.js';
import type { RecordLine } from './lines.js';
import {
  changePipeline,
  doubledAmong,
  insertPipeline,
  isEmailConflict,
  type RecordSink,
  refusalOf,
  whyDoubled,
  type WriteOutcome,
} from './record-sink.js';

const MOST_ATTEMPTS = 3;

/** How long a change of records is repeated while it conflicts with other writers (milliseconds). */
const REPEATED_MS = 120_000;

/**
 * The result of a change: the number of changed records and, for each record that was not changed because a name occurs
 * twice in it, that name by `id`.
 */
interface Changed {
  count: number;
  doubled: Map<string, string>;
}

/** Another writer has removed a record of the batch since it was found. A retry can succeed. */
class OvertakenError extends Error {
  constructor() {
    super('another program removes the record at the same time');
  }
}

/** Upserts batches of lines of one application and kind by `id`. */
export class RecordWriter implements RecordSink {
  private readonly records: mongo.Collection;

  constructor(
    private readonly db: mongo.Db,
    private readonly tenant: Tenant,
    private readonly kind: Kind,
    private readonly createdBy: string,
  ) {
    this.records = recordsIn(db, kind);
  }

  /** Writes lines with different ids. Throws only if the database is unavailable. */
  async write(lines: RecordLine[]): Promise<WriteOutcome> {
    const written: WriteOutcome = { created: 0, changed: 0, refused: [] };
    await this.writePart(lines, new Set(), written);
    return written;
  }

  /**
   * A part that fails is retried in halves, until each line that causes the failure is isolated. Such a line is
   * refused; if another writer was faster, only after {@link MOST_ATTEMPTS} attempts.
   */
  private async writePart(lines: RecordLine[], missing: Set<string>, written: WriteOutcome): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.attempt(lines, missing, written);
      } catch (error) {
        if (isDatabaseAway(error)) throw error;
        const [first, ...others] = lines;
        if (first === undefined) return;
        if (others.length > 0) break;
        if (isOvertaken(error) && attempt < MOST_ATTEMPTS) continue;
        written.refused.push({
          number: first.number,
          reason: error instanceof OvertakenError ? error.message : refusalOf(error),
        });
        return;
      }
    }
    const middle = Math.ceil(lines.length / 2);
    await this.writePart(lines.slice(0, middle), missing, written);
    await this.writePart(lines.slice(middle), missing, written);
  }

  /**
   * A record that an earlier attempt has not found was inserted by that attempt, or by another program. In the first
   * case it is equal, and counts as created; otherwise it counts as changed if it is.
   */
  private async attempt(lines: RecordLine[], missing: Set<string>, written: WriteOutcome): Promise<void> {
    const standing = await this.standing(lines);
    const isStanding = ({ record }: RecordLine) => standing.has(record.id);
    const wasMissing = ({ record }: RecordLine) => missing.has(record.id);
    const again = lines.filter((line) => isStanding(line) && wasMissing(line));
    const before = lines.filter((line) => isStanding(line) && !wasMissing(line));
    const others = lines.filter((line) => !isStanding(line));
    for (const { record } of others) missing.add(record.id);
    const ofBefore = await this.change(before);
    written.changed += ofBefore.count;
    await this.insert(others);
    // Last, because a repetition would find these records equal.
    const ofAgain = await this.change(again);
    written.changed += ofAgain.count;
    written.created += others.length + again.length - ofAgain.count - ofAgain.doubled.size;
    for (const { number, record } of lines) {
      const name = ofBefore.doubled.get(record.id) ?? ofAgain.doubled.get(record.id);
      if (name !== undefined) written.refused.push({ number, reason: whyDoubled(this.kind, name) });
    }
  }

  /** Reads without majority, to include records that another writer has just stored. */
  private async standing(lines: RecordLine[]): Promise<Set<string>> {
    const ids = lines.map(({ record }) => record.id);
    const found = await alongIndex(this.records, BY_RECORD_ID, (hint) =>
      this.records
        .find(withIds(this.tenant, ids), {
          projection: { _id: 0, id: 1 },
          hint,
          readConcern: { level: 'local' },
        })
        .toArray(),
    );
    return new Set(found.map(({ id }) => id as string));
  }

  /**
   * Atomic, so that the number of changed records is exact. A pipeline that changes a record in which a name occurs
   * twice can crash mongod, so such records are found in the same transaction, and are not changed.
   */
  private async change(lines: RecordLine[]): Promise<Changed> {
    if (lines.length === 0) return { count: 0, doubled: new Map() };
    return alongIndex(this.records, BY_RECORD_ID, (hint) => this.changeAlong(hint, lines));
  }

  private changeAlong(hint: string, lines: RecordLine[]): Promise<Changed> {
    return transactionWithin(this.db.client, REPEATED_MS, async (session) => {
      const query = this.ofRecords(lines.map(({ record }) => record));
      const doubled = await doubledAmong(this.records, query, { session, hint });
      const records = lines.map(({ record }) => record).filter(({ id }) => !doubled.has(id));
      const { matchedCount, modifiedCount } = await this.records.updateMany(
        this.ofRecords(records),
        changePipeline(this.kind, records),
        { session, hint },
      );
      if (matchedCount < records.length) throw new OvertakenError();
      return { count: modifiedCount, doubled };
    });
  }

  private ofRecords(records: { id: string }[]): mongo.Document {
    return withIds(
      this.tenant,
      records.map(({ id }) => id),
    );
  }

  private async insert(lines: RecordLine[]): Promise<void> {
    if (lines.length === 0) return;
    const records = lines.map(({ record }) => record);
    await this.records
      .aggregate(insertPipeline(this.records.collectionName, this.tenant, this.kind, this.createdBy, records))
      .toArray();
  }
}

function isOvertaken(error: unknown): boolean {
  return error instanceof OvertakenError || (isDuplicateKey(error) && !isEmailConflict(error));
}
