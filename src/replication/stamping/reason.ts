import type { Late } from './late.js';

/** Why everything of a slice is stamped anew, whatever its stamp is. */
export type Cause = 'pass' | 'filter' | 'audit' | 'quarantine' | 'number';

/** Why records or tombstones are stamped anew, by the watcher or by the command `resync`. */
export type RestampReason = Late['reason'] | Cause | 'resurrection' | 'resync';
