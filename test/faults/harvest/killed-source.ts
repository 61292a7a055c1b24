import type { mongo } from 'mongoose';
import { collectionOf } from '../../../src/kinds/index.js';
import type { Random } from '../plan/index.js';
import { eventually } from '../../support/index.js';
import { FaultTurns, type RecordSource } from '../world/index.js';

const RECORDS = 300;
const PRODUCT = collectionOf('product');

/** The records of an application of its own, as other programs write them. */
export class KilledSource {
  readonly tenant: { organizationid: string; appid: string };
  private readonly turns = new FaultTurns();
  private n = 0;

  constructor(
    private readonly source: RecordSource,
    private readonly random: Random,
    appid: string,
  ) {
    this.tenant = { organizationid: source.tenant.organizationid, appid };
  }

  /** An application with a service `bikes`, and records of which most match it. */
  async begin(): Promise<void> {
    const { db } = this.source;
    await db.collection('applications').insertOne({ ...this.tenant });
    const filter = { 'data.category': 'bikes' };
    await db.collection('services').insertOne({ ...this.tenant, kind: 'product', name: 'bikes', filter });
    const records = Array.from({ length: RECORDS }, (_, index) => this.record(`p${index}`));
    await db.collection(PRODUCT).insertMany(records);
  }

  /** One write of another program: an edit, one record or some; a delete; one that is back under its `id`. */
  write(): Promise<void> {
    return this.turns.take(() => this.written());
  }

  private async written(): Promise<void> {
    const products = this.source.db.collection(PRODUCT);
    const some = Array.from({ length: 1 + this.random.below(20) }, () => `p${this.random.below(RECORDS)}`);
    const which = { ...this.tenant, id: { $in: some } };
    const done = this.random.weighted({ edit: 4, remove: 2, add: 2 });
    if (done === 'remove') await products.deleteMany(which);
    else if (done === 'edit')
      await products.updateMany(which, {
        $set: { data: this.content() },
        $currentDate: { lastupdated: true },
      });
    else {
      const there = await products.distinct('id', which);
      const records = [...new Set(some)].filter((id) => !there.includes(id)).map((id) => this.record(id));
      if (records.length > 0) await products.insertMany(records);
    }
  }

  /**
   * What retention does: the horizon first, then the tombstones, but for the newest. Theirs are old, so it meets nobody who is
   * about to bring one of their records back; here nobody writes meanwhile.
   */
  forget(): Promise<void> {
    return this.turns.take(async () => {
      const dead = { ...this.tenant, kind: 'product', alive: false };
      const ledger = this.source.db.collection<{ lastupdated: Date }>('tidemark.ledger');
      await caughtUp(this.source);
      const [, horizon] = await ledger.find(dead).sort({ lastupdated: -1 }).limit(2).toArray();
      if (horizon === undefined) return;
      const { lastupdated } = horizon;
      const horizons = this.source.db.collection<mongo.Document & { _id: object }>('tidemark.horizons');
      const _id = { ...this.tenant, kind: 'product' };
      await horizons.updateOne({ _id }, { $max: { lastupdated } }, { upsert: true });
      await ledger.deleteMany({ ...dead, lastupdated: { $lte: lastupdated } });
    });
  }

  /** What a copy of `bikes` must hold: `data.n` and the stamp of each record, by id. */
  async expected(): Promise<Map<string, string>> {
    const which = { ...this.tenant, 'data.category': 'bikes' };
    const records = await this.source.db.collection(PRODUCT).find(which).toArray();
    return new Map(
      records.map(({ id, lastupdated, data }) => [id as string, shown(lastupdated as Date, data)]),
    );
  }

  private record(id: string): mongo.Document {
    const lastupdated = new Date();
    const fields = { type: 'product', createDate: lastupdated, createdBy: 'erp', channels: [] };
    return { ...this.tenant, id, ...fields, lastupdated, data: this.content() };
  }

  private content(): { category: string; n: number } {
    return { category: this.random.chance(0.7) ? 'bikes' : 'tents', n: (this.n += 1) };
  }
}

function shown(lastupdated: Date, data: unknown): string {
  return `${lastupdated.toISOString()} ${(data as { n: number }).n}`;
}

/** Waits until the watcher has worked through everything written so far. */
export async function caughtUp(source: RecordSource): Promise<void> {
  const end = await source.now();
  await eventually(async () => (await source.watched())?.greaterThanOrEqual(end));
}
