export { readTrail, redactTarget, trailEntry, writeTrail } from './audit-trail.js';
export {
  type Actor,
  AUDIT_TRAIL,
  type AuditedAction,
  type TrailEntry,
  trailModels,
} from './audit-trail.schema.js';
