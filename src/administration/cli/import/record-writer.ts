import type { mongo } from 'mongoose';
import { alongIndex, isDatabaseAway, isDuplicateKey } from '../../../platform/database/plain.js';
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
        if (isOvertaken(error) && attempt < MOST_ATTEMPTS) {
          // Nothing was written for this line: if the record exists by then, another program has inserted it.
          missing.delete(first.record.id);
          continue;
        }
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
   * A record counts as created if any attempt has not found it: a later attempt also finds what a failed one has
   * inserted.
   */
  private async attempt(lines: RecordLine[], missing: Set<string>, written: WriteOutcome): Promise<void> {
    const standing = await this.standing(lines);
    for (const { record } of lines) if (!standing.has(record.id)) missing.add(record.id);
    const { count, doubled } = await this.change(lines.filter(({ record }) => standing.has(record.id)));
    written.changed += count;
    await this.insert(lines.filter(({ record }) => !standing.has(record.id)));
    written.created += lines.filter(({ record }) => missing.has(record.id)).length;
    for (const { number, record } of lines) {
      const name = doubled.get(record.id);
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
    return this.db.client.withSession((session) =>
      session.withTransaction(async () => {
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
      }),
    );
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
