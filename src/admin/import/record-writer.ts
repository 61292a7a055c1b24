import type { mongo } from 'mongoose';
import { isDatabaseAway, isDuplicateKey } from '../../database/index.js';
import { COLLECTION_OF, type Kind, type Tenant } from '../../record/index.js';
import { withIds } from '../selection.js';
import type { RecordLine } from './batches.js';
import { changePipeline, insertPipeline } from './pipelines.js';

const MOST_ATTEMPTS = 3;
const BY_ID = { organizationid: 1, appid: 1, id: 1 };

/** What a batch has come to. */
export interface Written {
  created: number;
  changed: number;
  /** Lines that the database refused, and why. */
  refused: { number: number; reason: string }[];
}

/** Another writer was quicker; looked at again, it will do. */
class OvertakenError extends Error {}

/** Upserts batches of lines of one application and kind by `id`. */
export class RecordWriter {
  private readonly records: mongo.Collection;

  constructor(
    private readonly db: mongo.Db,
    private readonly tenant: Tenant,
    private readonly kind: Kind,
    private readonly createdBy: string,
  ) {
    this.records = db.collection(COLLECTION_OF[kind]);
  }

  /** Writes lines of different ids. Throws only where the database is away. */
  async write(lines: RecordLine[]): Promise<Written> {
    const written: Written = { created: 0, changed: 0, refused: [] };
    await this.writePart(lines, new Map(), written);
    return written;
  }

  /** A part that fails is done again in halves, until the lines that are to blame stand alone. */
  private async writePart(
    lines: RecordLine[],
    firstLook: Map<string, boolean>,
    written: Written,
  ): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.attempt(lines, firstLook, written);
      } catch (error) {
        if (isDatabaseAway(error)) throw error;
        const [first, ...others] = lines;
        if (first === undefined) return;
        if (others.length > 0) break;
        if (isOvertaken(error) && attempt < MOST_ATTEMPTS) continue;
        written.refused.push({ number: first.number, reason: reasonOf(error) });
        return;
      }
    }
    const middle = Math.ceil(lines.length / 2);
    await this.writePart(lines.slice(0, middle), firstLook, written);
    await this.writePart(lines.slice(middle), firstLook, written);
  }

  /** What a failed attempt has inserted is found to exist by the next one, but counts as created all the same. */
  private async attempt(lines: RecordLine[], existed: Map<string, boolean>, written: Written): Promise<void> {
    const standing = await this.standing(lines);
    for (const { record } of lines) {
      if (!existed.has(record.id)) existed.set(record.id, standing.has(record.id));
    }
    written.changed += await this.change(lines.filter(({ record }) => standing.has(record.id)));
    await this.insert(lines.filter(({ record }) => !standing.has(record.id)));
    written.created += lines.filter(({ record }) => existed.get(record.id) === false).length;
  }

  /** Read without majority: what another writer has just stored counts. */
  private async standing(lines: RecordLine[]): Promise<Set<string>> {
    const ids = lines.map(({ record }) => record.id);
    const found = await this.records
      .find(withIds(this.tenant, ids), {
        projection: { _id: 0, id: 1 },
        hint: BY_ID,
        readConcern: { level: 'local' },
      })
      .toArray();
    return new Set(found.map(({ id }) => id as string));
  }

  /** All or nothing, so that what is counted as changed is so. */
  private async change(lines: RecordLine[]): Promise<number> {
    if (lines.length === 0) return 0;
    const records = lines.map(({ record }) => record);
    const ids = records.map(({ id }) => id);
    const pipeline = changePipeline(this.kind, records);
    return this.db.client.withSession((session) =>
      session.withTransaction(async () => {
        const { matchedCount, modifiedCount } = await this.records.updateMany(
          withIds(this.tenant, ids),
          pipeline,
          {
            session,
            hint: BY_ID,
          },
        );
        if (matchedCount < lines.length) throw new OvertakenError();
        return modifiedCount;
      }),
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

function isEmailConflict(error: mongo.MongoServerError): boolean {
  return 'emailkey' in ((error.keyPattern ?? {}) as object);
}

function reasonOf(error: unknown): string {
  if (isDuplicateKey(error) && isEmailConflict(error)) return 'another member has this e-mail already';
  return `the database refuses it: ${(error as Error).message.replace(/^PlanExecutor error.*? :: caused by :: /, '')}`;
}
