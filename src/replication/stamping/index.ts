export type { Late, Reason } from './late.js';
export { Restamps } from './restamps.js';
export { Resurrections } from './resurrections.js';
export { StampingModule } from './stamping.module.js';
