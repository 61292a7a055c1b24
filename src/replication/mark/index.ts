export { Announced } from './announced.js';
export { HeadWriter } from './head-writer.js';
export { KnownHeads } from './known-heads.js';
export { MarkRaiser } from './mark-raiser.js';
export { MarkModule } from './mark.module.js';
export { MaxService } from './max.service.js';
export { MomentWriter } from './moment-writer.js';
export { type MomentLook, Moments } from './moments.js';
export * from './plain.js';
