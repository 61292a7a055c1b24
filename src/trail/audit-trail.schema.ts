import { type mongo, Schema } from 'mongoose';

/** The author of a change: a credential over HTTP, or a person who runs a command with the database's address. */
export interface Actor {
  /** User name of the credential, or of the operating system's user. */
  who: string;
  via: 'http' | 'command';
  /** Address of the client, or name of the machine. */
  from: string;
  requestId?: string;
}

/** An action, such as `service.set`, and its target. Names only: never a secret or a value. */
export interface AuditedAction {
  action: string;
  organizationid?: string;
  appid?: string;
  /** The target, such as `product service bikes` or `member 4711`. */
  target: string;
  /** Names of the properties that changed. */
  changed?: string[];
}

/** A document of the audit trail. */
export interface TrailEntry extends Actor, AuditedAction {
  _id: mongo.ObjectId;
  at: Date;
  /** When the entry is deleted. */
  expires: Date;
}

/** Name of the collection. */
export const AUDIT_TRAIL = 'tidemark.audittrail';

/** Name of the Mongoose model of the audit trail. */
const AUDIT_TRAIL_MODEL = 'AuditTrail';

/**
 * The indexes list entries newest first, of all organizations or of one, and delete each entry when its `expires` has
 * passed.
 */
const auditTrailSchema = new Schema<TrailEntry>(
  {},
  { collection: AUDIT_TRAIL, strict: false, versionKey: false },
)
  .index({ organizationid: 1, _id: -1 })
  .index({ expires: 1 }, { expireAfterSeconds: 0 });

/** The models of this module. */
export const trailModels = [{ name: AUDIT_TRAIL_MODEL, schema: auditTrailSchema }];
