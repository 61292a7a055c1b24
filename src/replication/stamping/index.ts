export { Claimants } from './claimants.js';
export * from './plain.js';
export { RestampNotes } from './restamp-notes.js';
export { type Restamped, Restamps } from './restamps.js';
export { Resurrections } from './resurrections.js';
export { StampingModule } from './stamping.module.js';
