export { type Fences, type KnownFences, withPassed } from './fences.js';
export { countedStamp, greatestAt, type Head, type Heads, noteHead, type StoredHead } from './head.js';
export { fenceAfterRaise, fenceIn, type Mark, type MarkKey, markKey, markName } from './mark.js';
export { isShown, type Moment, newestMoment, servingMoment, type StoredMoment } from './moment.js';
