export { before, type LogPlace, placeBehind, placeOf, rightBehind, upTo } from './place.js';
export {
  type Pace,
  restInWords,
  retryAfter,
  secondsLeft,
  secondsToPresent,
  shareDone,
  shareKnown,
  type StoredWork,
  type Work,
} from './rest.js';
export {
  ALL,
  type AppShare,
  documentsOf,
  inShare,
  isIn,
  isPartial,
  type Named,
  recordsAlong,
} from './share.js';
export { Tempo } from './tempo.js';
