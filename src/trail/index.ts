export { Acting, actorOf, TrailModule, TrailNotes } from './trail-notes.js';
export * from './plain.js';
