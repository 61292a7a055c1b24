export { inSlices, slicesOf } from './slices.js';
export { type Found, inStretch, nextStretch, type Stretch, STRETCH_MS } from './stretch.js';
export { walk, type Way } from './walk.js';
