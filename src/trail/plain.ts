export { readTrail, trailEntry, writeTrail } from './audit-trail.js';
export { type Actor, AUDIT_TRAIL, type Deed, type TrailEntry, trailModels } from './audit-trail.schema.js';
