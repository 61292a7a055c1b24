import { type mongo, Schema } from 'mongoose';
import type { Kind } from '../../kinds/index.js';
import type { Tenant } from '../../record/index.js';

/**
 * The receipt of an erasure. It holds nothing of the person. The `id` is found through the ledger, for as long as that keeps
 * the hard delete.
 */
export interface StoredReceipt extends Tenant {
  _id: mongo.ObjectId;
  kind: Kind;
  /** `_id` of the ledger entry; null if the watcher has never learned the record. */
  entry: mongo.ObjectId | null;
  /** When the record was deleted, by the clock of the instance or command. */
  at: Date;
  /** The stamp of the hard delete when it was last read; null while there is none. */
  lastupdated: Date | null;
  /** Whether the watcher has processed the deletion, and nothing of the record is left in the collections of the service. */
  isClean: boolean;
  /** Removed with the entries of the audit trail of that time. */
  expires: Date;
}

export const ERASURES = 'tidemark.erasures';

const ERASURE_MODEL = 'Erasure';

const receiptSchema = new Schema<StoredReceipt>(
  {},
  { collection: ERASURES, strict: false, versionKey: false },
)
  .index({ organizationid: 1, appid: 1, _id: -1 })
  .index({ expires: 1 }, { expireAfterSeconds: 0 });

export const erasureModels = [{ name: ERASURE_MODEL, schema: receiptSchema }];
