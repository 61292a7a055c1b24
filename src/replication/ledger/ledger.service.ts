import { Injectable } from '@nestjs/common';
import { InjectModel } from '@nestjs/mongoose';
import { type Model, mongo } from 'mongoose';
import { Metrics } from '../../common/index.js';
import { isDuplicateKey } from '../../database/index.js';
import type { Kind } from '../../record/index.js';
import { type LedgerChange, ledgerWrite } from './changes.js';
import { LEDGER_MODEL, type LedgerEntry } from './ledger.js';

const DUPLICATE_KEY = 11000;

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

  /** Living entries in the order of their owners, behind one owner, at most `limit`. */
  living(kind: Kind, behind: mongo.ObjectId | undefined, limit: number): Promise<LedgerEntry[]> {
    const owner = behind === undefined ? { $exists: true } : { $gt: behind };
    return this.entries.collection
      .find<LedgerEntry>({ kind, alive: true, owner }, { sort: { owner: 1 }, limit })
      .toArray();
  }

  /** Writes what was learned; knowledge older than the ledger's own changes nothing. */
  async learn(changes: LedgerChange[]): Promise<void> {
    if (changes.length === 0) return;
    await this.entries.collection
      .bulkWrite(changes.map(ledgerWrite), { ordered: false })
      .catch(unlessKnownBetter);
    this.metrics.tombstones.inc(changes.filter((change) => !change.alive).length);
  }
}

function unlessKnownBetter(error: unknown): void {
  const errors = error instanceof mongo.MongoBulkWriteError ? [error.writeErrors].flat() : [];
  const onlyKnown = errors.length > 0 && errors.every((one) => one.code === DUPLICATE_KEY);
  if (!onlyKnown && !isDuplicateKey(error)) throw error;
}
