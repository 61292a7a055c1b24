export { atMost, Semaphore, SharedReads, type WithoutSlot } from './concurrency.js';
export { type Parsed, earlier, later, parseDate, shown } from './dates.js';
export { fileTrouble } from '../config/pure.js';
export { FatalError, UsageError } from './fatal.js';
export { type LostNumber, isKept, lostNumber, lostNumberInSteps } from './json-numbers.js';
export { exactly, literal } from './literal.js';
export {
  capitalized,
  NAME,
  NAME_RULE,
  NAME_SCHEMA,
  count,
  duration,
  fits,
  textOf,
  visible,
  visibleJson,
  visibleLines,
} from './text.js';
export {
  DeadlineError,
  type Steps,
  TimeSlice,
  atOnce,
  fewAtATime,
  forAtMost,
  pause,
  settledWithin,
  within,
} from './waiting.js';
