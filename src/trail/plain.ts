export { readTrail, trailEntry, writeTrail } from './audit-trail.js';
export { AUDIT_TRAIL, trailModels } from './audit-trail.schema.js';
export type { Actor, Deed, TrailEntry } from './trail-entry.js';
