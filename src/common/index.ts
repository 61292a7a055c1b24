export { count } from './count.js';
export { type Parsed, parseDate, shown } from './dates.js';
export { DeadlineError, within } from './deadline.js';
export { exactly } from './exactly.js';
export { FatalError } from './fatal.js';
export { literal } from './literal.js';
export { NAME, NAME_RULE } from './names.js';
export { settledWithin } from './settled-within.js';
export { SharedReads } from './shared-reads.js';
