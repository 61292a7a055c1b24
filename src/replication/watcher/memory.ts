import { FILTER_VERSIONS } from '../filters/index.js';
import { INCOMPLETE_IDENTITIES, LEDGER } from '../ledger/index.js';
import { HEADS, MARKS } from '../mark/index.js';
import { QUARANTINE } from '../quarantine/index.js';

/** Without these the watcher's own memory has a gap: their loss is handled like a lost history. */
export const MEMORY = [LEDGER, MARKS, HEADS, FILTER_VERSIONS, INCOMPLETE_IDENTITIES, QUARANTINE];
