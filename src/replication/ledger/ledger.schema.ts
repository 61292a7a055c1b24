import { type Model, type mongo, Schema } from 'mongoose';
import type { LogPlace } from '../progress/index.js';
import type { Identity } from './identity.js';

/**
 * The one document for each application, kind and `id` ever seen (design §3): alive with its owner,
 * or the tombstone that the hard-delete feed shows. Only expiry removes any, and only old tombstones.
 */
export interface LedgerEntry extends Identity {
  _id: mongo.ObjectId;
  alive: boolean;
  /** `_id` of the record that lives under this identity; dead entries have none. */
  owner?: mongo.ObjectId;
  /** The `id` of that record is stored as a number; absent where it is a text. */
  isNumber?: true;
  /** The record with a number that ended here last, if none lives here since. It may claim the `id` still. */
  number?: mongo.ObjectId;
  /** A look has found that record there: where it was at `learned` events are still to tell. Absent where these have. */
  isLooked?: true;
  /** When it died; living entries have none. */
  lastupdated?: Date;
  /** Where in the log this was learned. Older knowledge never overwrites newer. */
  learned: LogPlace;
}

/** Name of the collection. */
export const LEDGER = 'tidemark.ledger';

/** Name of the Mongoose model of `tidemark.ledger`. */
export const LEDGER_MODEL = 'LedgerEntry';

const ofTombstones = { partialFilterExpression: { alive: false } };

export const ledgerSchema = new Schema<LedgerEntry>(
  {},
  { collection: LEDGER, strict: false, versionKey: false, statics: { settleDuplicates } },
)
  .index({ organizationid: 1, appid: 1, kind: 1, id: 1 }, { unique: true })
  .index({ kind: 1, owner: 1, _id: 1 }, { partialFilterExpression: { alive: true } })
  .index({ kind: 1, isNumber: 1 }, { partialFilterExpression: { isNumber: true } })
  .index({ organizationid: 1, appid: 1, kind: 1, _id: 1 }, ofTombstones)
  .index({ organizationid: 1, appid: 1, kind: 1, lastupdated: 1, _id: 1 }, ofTombstones);

/** After a drop entries may have been written before the unique index stood again: the latest knowledge counts. */
async function settleDuplicates(this: Model<LedgerEntry>): Promise<boolean> {
  const groups = this.collection.aggregate<{ entries: mongo.ObjectId[] }>(
    [
      { $sort: { learned: -1 } },
      {
        $group: {
          _id: { organizationid: '$organizationid', appid: '$appid', kind: '$kind', id: '$id' },
          entries: { $push: '$_id' },
        },
      },
      { $match: { 'entries.1': { $exists: true } } },
    ],
    { allowDiskUse: true },
  );
  for await (const { entries } of groups)
    await this.collection.deleteMany({ _id: { $in: entries.slice(1) } });
  return true;
}
