export { before, type LogPlace, placeBehind, placeOf, rightBehind, upTo } from './place.js';
export { ALL, type AppShare, inShare, isIn, isPartial, type Named } from './share.js';
