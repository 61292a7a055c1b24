export { readFences } from './fences.js';
export { HEADS } from './head.schema.js';
export { MARK_MODEL, MARKS, RAISE } from './mark.schema.js';
export { MOMENTS } from './moment.schema.js';
export * from './pure.js';
export { markModels } from './models.js';
