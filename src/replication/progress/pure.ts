export { ALL, inShare, isIn, isPartial, type Named, type AppShare } from './share.js';
