import { mongo, Schema, type Connection } from 'mongoose';
import type { Kind } from '../../record/index.js';
import type { Identity, StoredIdentity } from '../ledger/index.js';
import type { LogPlace } from '../progress/index.js';

/** What something that was set aside is about: a record, a hard delete by its ledger entry, or the services. */
export type Concern = ConcernedRecord | ConcernedTombstone | { what: 'services' };

export interface ConcernedRecord {
  what: 'record';
  kind: Kind;
  owner: mongo.ObjectId;
}

export interface ConcernedTombstone {
  what: 'tombstone';
  owner: mongo.ObjectId;
}

/** The fields of a record's identity as of a place in the log. */
export type LastKnown = StoredIdentity & { learned: LogPlace };

/** Something that could not be worked through, or written. What it is about is looked after until that succeeds. */
export interface SetAside {
  _id: Concern;
  /** Tells it from one that is made anew after it was settled. Absent in an entry of an earlier version. */
  entry?: mongo.ObjectId;
  /** What went wrong, the last time. */
  reason: string;
  since: Date;
  /** How many of its events were set aside. The ledger may not know what it is while there is any. */
  events: number;
  /** How many of the service's own writes into it were refused. Absent in an entry of an earlier version. */
  refusals?: number;
  /** How often it was looked after in vain. */
  tries: number;
  /** When it is looked after again. */
  due: Date;
  /** What a record was after the last of its events that was set aside, whole or not. */
  known?: LastKnown;
  /** What a record was meanwhile, so that consumers may have it although the ledger does not; the last 100. */
  identities?: Identity[];
  /** The stamp that it gets has to lie above it: consumers know a hard delete of that time. */
  above?: Date;
}

/** Name of the collection. */
export const QUARANTINE = 'tidemark.quarantine';

/** Name of the Mongoose model of `quarantine`. */
export const QUARANTINE_MODEL = 'SetAside';

export const quarantineSchema = new Schema<SetAside>(
  { _id: Object },
  { collection: QUARANTINE, strict: false, versionKey: false },
).index({ due: 1 });

/** The models of the room. */
export const quarantineModels = [{ name: QUARANTINE_MODEL, schema: quarantineSchema }];

/** About how many records and hard deletes there are that were set aside. */
export function countSetAside(connection: Connection): Promise<number> {
  return connection.collection(QUARANTINE).estimatedDocumentCount();
}
