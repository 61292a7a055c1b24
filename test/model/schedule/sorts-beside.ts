import type { Profile } from './profile.js';
import {
  CLAIMANTS,
  CRASHES,
  EVERYTHING,
  FILTERS,
  HEADS,
  LATE_QUARANTINE,
  LOST_HISTORY,
  RETENTION,
  SWAPS,
} from './sorts.js';

/** Any of three applications is put aside at any batch while anything else happens. */
export const LANES: Profile = {
  ...EVERYTHING,
  lanes: { aside: 0.3 },
  parts: { ...EVERYTHING.parts, 'work beside': 30, operate: 1 },
  filtered: 2,
};

/** Records are moved between applications while these come and go, and watchers crash and overtake one another. */
export const MOVES_BESIDE: Profile = {
  ...SWAPS,
  lanes: { aside: 0.3 },
  parts: { ...SWAPS.parts, 'work beside': 30, abandon: 1, 'what is left behind': 4 },
  changes: { insert: 3, delete: 2, move: 6, swap: 1, change: 2 },
  stamps: { leave: 2, next: 1, past: 1 },
  filtered: 0,
};

/** The same where the server seldom holds the moment that a loop has to read a move as of. */
export const LATE_MOVES_BESIDE: Profile = {
  ...MOVES_BESIDE,
  gone: 0.6,
  parts: { ...MOVES_BESIDE.parts, consume: 40, 'work beside': 40 },
};

/** Leaders end between any two writes while applications come and go, and what is left behind lands late. */
export const CRASHES_BESIDE: Profile = {
  ...CRASHES,
  lanes: { aside: 0.6 },
  parts: { ...CRASHES.parts, 'work beside': 35, abandon: 5, 'what is left behind': 10 },
  changes: { insert: 4, delete: 3, move: 2, change: 1 },
  strides: [1, 2, 3, 5, 12],
  filtered: 0,
};

/** History is lost again and again, and pages show whatever is worked through. */
export const LOST_HISTORY_BESIDE: Profile = {
  ...LOST_HISTORY,
  lanes: { aside: 0.3 },
  parts: { ...LOST_HISTORY.parts, 'lose history': 3, 'work beside': 25 },
  changes: { insert: 5, delete: 4, move: 2, change: 2 },
  stamps: { past: 2, leave: 1 },
  filtered: 0,
};

/** The newest changes alone, of applications that come and go, for instances that go by what they know. */
export const HEADS_BESIDE: Profile = {
  ...HEADS,
  lanes: { aside: 0.3 },
  parts: { ...HEADS.parts, 'work beside': 30 },
};

/** What the ledger and the database refuse, of records that move between applications. */
export const QUARANTINE_BESIDE: Profile = {
  ...LATE_QUARANTINE,
  lanes: { aside: 0.3 },
  parts: { ...LATE_QUARANTINE.parts, 'work beside': 30 },
};

/** Filters of applications that come and go. */
export const FILTERS_BESIDE: Profile = {
  ...FILTERS,
  lanes: { aside: 0.4 },
  parts: { ...FILTERS.parts, 'work beside': 30 },
};

/** Hard deletes that are kept for a few milliseconds, of applications that come and go. */
export const RETENTION_BESIDE: Profile = {
  ...RETENTION,
  lanes: { aside: 0.3 },
  parts: { ...RETENTION.parts, 'work beside': 20 },
};

/** Numbers and texts under one `id`, which move between applications, while anything may end and land late. */
export const NUMBERS_BESIDE: Profile = {
  ...CLAIMANTS,
  lanes: { aside: 0.3 },
  parts: { ...CLAIMANTS.parts, 'work beside': 30 },
  changes: { insert: 6, delete: 4, move: 4, change: 1, retype: 2 },
};

/** The same while most of what is written is of terms that were given up. */
export const LATE_NUMBERS_BESIDE: Profile = {
  ...NUMBERS_BESIDE,
  parts: {
    watch: 40,
    consume: 15,
    write: 20,
    commit: 4,
    abandon: 6,
    crash: 3,
    'what is left behind': 16,
    'work beside': 30,
    'lease runs out': 4,
    'lose history': 1,
  },
  changes: { insert: 6, delete: 5, move: 4, retype: 1 },
};
