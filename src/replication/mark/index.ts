export { readFences } from './fences.js';
export { MarkRaiser } from './mark-raiser.js';
export { MarkModule } from './mark.module.js';
export { MARK_MODEL, MARKS, RAISE } from './mark.schema.js';
export { MaxService } from './max.service.js';
export { MomentWriter } from './moment-writer.js';
export { MOMENTS } from './moment.schema.js';
export { type MomentLook, Moments } from './moments.js';
export * from './pure.js';
