export {
  readTrail,
  redactTarget,
  trailEntry,
  writeTrail,
  type Actor,
  AUDIT_TRAIL,
  type AuditedAction,
  type TrailEntry,
  trailModels,
} from './audit-trail.js';
