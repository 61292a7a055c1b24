import { Injectable } from '@nestjs/common';
import mongoose, { type mongo } from 'mongoose';
import { LEDGER, type LedgerEntry } from '../../ledger/index.js';
import { numberedIn, renamed } from '../transcode/index.js';
import { RawFind } from './raw-find.js';
import type { Selection } from './selection.js';

const { BSON } = mongoose.mongo;
const BY_OWNER = { kind: 1, owner: 1, _id: 1 } as const;

/** The documents of a batch from a place on. */
export interface BatchPart {
  documents: Uint8Array;
  from: number;
}

/**
 * Records whose `id` is stored as a number are delivered under its decimal text (contract §4), but only those that the
 * ledger knows under it at that time: another record may have the text, or the same number. The watcher stamps a record
 * anew once the ledger knows it, so whoever is shown a moment in between receives it in the next window.
 */
@Injectable()
export class NumericIdTexts {
  constructor(private readonly finds: RawFind) {}

  /**
   * The raw array of records from a place on, with the texts of their numbers, without those that are not known so. One
   * more read.
   */
  async asTexts(
    { documents, from }: BatchPart,
    { scope, kind }: Selection,
    at: mongo.Timestamp,
  ): Promise<Uint8Array> {
    const numbered = numberedIn(documents, from);
    if (numbered.length === 0) return documents;
    const known = new Set<string>();
    const find = {
      collection: LEDGER,
      filter: {
        ...{ kind, alive: true, owner: { $in: numbered.map(({ _id }) => _id) } },
        ...{ ...scope, id: { $in: numbered.flatMap(({ text }) => text ?? []) } },
      },
      along: BY_OWNER,
      projection: { _id: 0, owner: 1, id: 1 },
      limit: 0,
      batchSize: numbered.length,
    };
    for await (const batch of this.finds.all(find, at))
      for (const { owner, id } of Object.values(BSON.deserialize(batch.documents)) as LedgerEntry[])
        known.add(`${String(owner)} ${id}`);
    return renamed(documents, from, ({ _id, text }) => known.has(`${_id.toHexString()} ${text}`));
  }
}
