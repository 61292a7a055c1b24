import type { mongo } from 'mongoose';
import type { Life } from '../ledger/index.js';

/** A life that came back, and above what its record is stamped: the tombstone that it had, and the fence. */
export interface Resurrected {
  life: Life;
  above: Date | undefined;
}

/** A record that is stamped, and above what. */
export interface RecordToStamp {
  _id: mongo.ObjectId;
  above: Date | undefined;
  /** What has to be true of it. */
  where: mongo.Document;
}
