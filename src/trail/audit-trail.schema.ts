import { type mongo, Schema } from 'mongoose';

/** Who changes something: a credential over HTTP, or somebody with a command and the database's address. */
export interface Actor {
  /** User name of the credential, or of the operating system's user. */
  who: string;
  via: 'http' | 'command';
  /** Address of the client, or name of the machine. */
  from: string;
  requestId?: string;
}

/** What was done, such as `service.set`, and to what. Names only: never a secret or a value. */
export interface Deed {
  action: string;
  organizationid?: string;
  appid?: string;
  /** What it was done to, such as `product service bikes` or `member 4711`. */
  target: string;
  /** Names of the properties that changed. */
  changed?: string[];
}

/** A document of the audit trail. */
export interface TrailEntry extends Actor, Deed {
  _id: mongo.ObjectId;
  at: Date;
  /** When it is removed. */
  expires: Date;
}

/** Name of the collection. */
export const AUDIT_TRAIL = 'tidemark.audittrail';

/** Name of the Mongoose model of the audit trail. */
const AUDIT_TRAIL_MODEL = 'AuditTrail';

/** Newest first, of everybody or of one organization; each entry goes when its `expires` has come. */
const auditTrailSchema = new Schema<TrailEntry>(
  {},
  { collection: AUDIT_TRAIL, strict: false, versionKey: false },
)
  .index({ organizationid: 1, _id: -1 })
  .index({ expires: 1 }, { expireAfterSeconds: 0 });

/** The models of the room. */
export const trailModels = [{ name: AUDIT_TRAIL_MODEL, schema: auditTrailSchema }];
