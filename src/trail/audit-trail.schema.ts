import { Schema } from 'mongoose';
import type { TrailEntry } from './trail-entry.js';

/** Name of the collection. */
export const AUDIT_TRAIL = 'tidemark.audittrail';

/** Name of the Mongoose model of the audit trail. */
export const AUDIT_TRAIL_MODEL = 'AuditTrail';

/** Newest first, of everybody or of one organization; each entry goes when its `expires` has come. */
export const auditTrailSchema = new Schema<TrailEntry>(
  {},
  { collection: AUDIT_TRAIL, strict: false, versionKey: false },
)
  .index({ organizationid: 1, _id: -1 })
  .index({ expires: 1 }, { expireAfterSeconds: 0 });

/** The models of the room. */
export const trailModels = [{ name: AUDIT_TRAIL_MODEL, schema: auditTrailSchema }];
