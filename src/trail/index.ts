export { Acting, actorOf } from './acting.js';
export * from './plain.js';
export { TrailModule } from './trail.module.js';
export { TrailNotes } from './trail-notes.js';
