import { randomUUID } from 'node:crypto';
import type { mongo } from 'mongoose';
import { refusedAsDuplicate, statedIndex } from '../../database/plain.js';
import { COLLECTION_OF, type Kind, type Tenant, ofTenant } from '../../record/index.js';
import type { RecordLine } from './lines.js';

const BATCH = 1000;
const IN_FEED_ORDER = { organizationid: 1, appid: 1, _id: 1 } as const;

interface StandingRecord {
  _id: unknown;
  id?: unknown;
}

/**
 * Makes the records of an application and kind a mirror of a file. The ids that the file has are kept in a collection
 * of their own while it is read, so that a file of any size needs no memory here.
 */
export class Mirror {
  private readonly seen: mongo.Collection<{ _id: string }>;
  private readonly records: mongo.Collection;

  constructor(
    db: mongo.Db,
    private readonly tenant: Tenant,
    kind: Kind,
  ) {
    const name = `tidemark.importing.${randomUUID()}`;
    this.seen = db.collection(name);
    this.records = db.collection(COLLECTION_OF[kind]);
  }

  /** Notes that the file has these records. Like every write with majority, else the removal could not see it yet. */
  async see(lines: RecordLine[]): Promise<void> {
    const ids = lines.map(({ record }) => ({ _id: record.id }));
    await this.seen.insertMany(ids, { ordered: false }).catch(refusedAsDuplicate);
  }

  /** Removes the records whose id was never seen, and returns how many. */
  async removeUnseen(): Promise<number> {
    let removed = 0;
    let batch: StandingRecord[] = [];
    const all = this.records.find<StandingRecord>(ofTenant(this.tenant), {
      projection: { id: 1 },
      sort: { _id: 1 },
      hint: await statedIndex(this.records, IN_FEED_ORDER),
      batchSize: BATCH,
    });
    for await (const record of all) {
      batch.push(record);
      if (batch.length < BATCH) continue;
      removed += await this.removeUnseenOf(batch);
      batch = [];
    }
    return removed + (await this.removeUnseenOf(batch));
  }

  /** Forgets what was seen. */
  async close(): Promise<void> {
    await this.seen.drop();
  }

  private async removeUnseenOf(records: StandingRecord[]): Promise<number> {
    if (records.length === 0) return 0;
    const ids = records.map(({ id }) => id as string);
    const seen = new Set<unknown>(await this.seen.distinct('_id', { _id: { $in: ids } }));
    const surplus = records.filter(({ id }) => !seen.has(id)).map(({ _id }) => _id);
    if (surplus.length === 0) return 0;
    const unseen = { ...ofTenant(this.tenant), _id: { $in: surplus as mongo.ObjectId[] } };
    return (await this.records.deleteMany(unseen)).deletedCount;
  }
}
