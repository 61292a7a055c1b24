export { type Fences, readFences } from './fences.js';
export { MarkRaiser } from './mark-raiser.js';
export { MarkModule } from './mark.module.js';
export { MARK_MODEL, MARKS, RAISE } from './mark.schema.js';
export { fenceIn, type Mark, type MarkKey, markKey, markName } from './mark.js';
export { MaxService } from './max.service.js';
export { MOMENT_MODEL, MOMENTS } from './moment.schema.js';
export { isShown, type Moment, newestMoment, servingMoment, type StoredMoment } from './moment.js';
export { type MomentLook, Moments } from './moments.js';
