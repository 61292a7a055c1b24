import { Injectable } from '@nestjs/common';
import { InjectModel } from '@nestjs/mongoose';
import type { Model, mongo } from 'mongoose';
import { Metrics } from '../../common/index.js';
import { refusedAsDuplicate } from '../../database/index.js';
import type { Kind } from '../../record/index.js';
import { firstLife, laterLife, type LedgerChange, tombstones } from './changes.js';
import { LEDGER_MODEL, type LedgerEntry } from './ledger.js';

/** Reads and writes the ledger. Only the watcher writes. */
@Injectable()
export class Ledger {
  constructor(
    @InjectModel(LEDGER_MODEL) private readonly entries: Model<LedgerEntry>,
    private readonly metrics: Metrics,
  ) {}

  /** The living entries that these records own. */
  ownedBy(kind: Kind, owners: mongo.ObjectId[]): Promise<LedgerEntry[]> {
    return this.entries.collection.find<LedgerEntry>({ kind, alive: true, owner: { $in: owners } }).toArray();
  }

  /** Living entries in the order of their owners, behind one of them, at most `limit`. */
  living(kind: Kind, behind: LedgerEntry | undefined, limit: number): Promise<LedgerEntry[]> {
    const later =
      behind === undefined
        ? {}
        : { $or: [{ owner: { $gt: behind.owner } }, { owner: behind.owner, _id: { $gt: behind._id } }] };
    return this.entries.collection
      .find<LedgerEntry>({ kind, alive: true, ...later }, { sort: { owner: 1, _id: 1 }, limit })
      .toArray();
  }

  /** Writes what was learned; knowledge older than the ledger's own changes nothing. */
  async learn(changes: LedgerChange[]): Promise<void> {
    const lives = changes.filter((change) => change.alive);
    const deaths = changes.filter((change) => !change.alive);
    const seenBefore = await this.write(lives.map((life) => ({ insertOne: { document: firstLife(life) } })));
    const later = lives.filter((_life, index) => seenBefore.has(index));
    await this.write([...later.map(laterLife), ...tombstones(deaths)]);
    this.metrics.tombstones.inc(deaths.length);
  }

  /** Which of the writes ran into an identity that the ledger has already. */
  private async write(writes: mongo.AnyBulkWriteOperation[]): Promise<Set<number>> {
    if (writes.length === 0) return new Set();
    return this.entries.collection
      .bulkWrite(writes, { ordered: false })
      .then(() => new Set<number>(), refusedAsDuplicate);
  }
}
