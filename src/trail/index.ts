export { Acting, actorOf } from './acting.js';
export { readTrail, trailEntry, writeTrail } from './audit-trail.js';
export { AUDIT_TRAIL } from './audit-trail.schema.js';
export type { Actor, Deed, TrailEntry } from './trail-entry.js';
export { TrailModule } from './trail.module.js';
export { TrailNotes } from './trail-notes.js';
