import { expired, overtaken, stocked } from './beginnings.js';
import type { Profile } from './profile.js';

/** Anything may happen. */
export const EVERYTHING: Profile = {
  turns: 150,
  parts: {
    watch: 30,
    consume: 30,
    write: 20,
    commit: 8,
    operate: 2,
    'lose collection': 0.5,
    'lose history': 0.5,
    'lease runs out': 3,
    crash: 1,
    hang: 0.5,
    wake: 1,
    abandon: 0.5,
    'what is left behind': 2,
    'crash of a consumer': 1,
    clock: 4,
  },
};

/** Records of honest writers come and go under the same few `id`s. */
export const RESURRECTIONS: Profile = {
  turns: 150,
  parts: { watch: 40, consume: 40, write: 15, commit: 5 },
  changes: { insert: 4, delete: 3, renew: 3 },
  stamps: { next: 1 },
};

/** Records are moved to `id`s that others have left. */
export const MOVES: Profile = {
  turns: 150,
  parts: { watch: 40, consume: 40, write: 15, commit: 5 },
  changes: { insert: 3, delete: 2, move: 6 },
  stamps: { next: 1 },
};

/** Records are moved and swapped while watchers crash and overtake one another. */
export const SWAPS: Profile = {
  turns: 150,
  parts: {
    watch: 40,
    consume: 25,
    write: 18,
    commit: 4,
    'lose collection': 0.5,
    'lose history': 0.5,
    'lease runs out': 6,
    crash: 3,
  },
  changes: { insert: 3, delete: 2, move: 4, swap: 3 },
  stamps: { leave: 2, next: 1 },
};

/** Watchers crash between any two writes, over records that come and go. */
export const CRASHES: Profile = {
  turns: 120,
  parts: { watch: 40, consume: 20, write: 15, crash: 8, 'lease runs out': 8 },
  changes: { insert: 4, delete: 3, change: 1 },
  stamps: { next: 3, past: 1 },
};

/** Watchers hang, are abandoned between any two effects, and what they left behind lands whenever it likes. */
export const ABANDONED_TERMS: Profile = {
  turns: 150,
  parts: {
    watch: 40,
    consume: 25,
    write: 18,
    commit: 4,
    operate: 1,
    'lose history': 0.5,
    'lease runs out': 4,
    hang: 2,
    wake: 4,
    abandon: 5,
    'what is left behind': 12,
  },
  changes: { insert: 3, delete: 3, move: 2, change: 1 },
  stamps: { next: 2, leave: 1, past: 1 },
};

/** One pass after the other, begun by one watcher while the other is still at its own. */
export const PASSES: Profile = {
  turns: 120,
  parts: { watch: 45, consume: 20, write: 20, 'lose collection': 2, 'lose history': 4, 'lease runs out': 8 },
  changes: { insert: 4, delete: 3, move: 3 },
  stamps: { next: 1, past: 1 },
};

/** A filter is edited, disabled and removed while two watchers believe that they lead. */
export const FILTERS: Profile = {
  turns: 150,
  parts: { watch: 40, consume: 30, write: 8, operate: 8, 'lease runs out': 6, crash: 1 },
  changes: { insert: 2, change: 1 },
  stamps: { next: 1 },
  filtered: 3,
};

/** A filter is edited by one watcher after the other, never to what it was before. */
export const NEW_FILTERS: Profile = { ...FILTERS, everNew: true, timer: false };

/** The same where services that were edited wait for a look beside the stream, so that the token comes before their effects. */
export const WAITING_FILTERS: Profile = { ...NEW_FILTERS, waiting: true };

/** History is lost again and again while each watcher overtakes the other, and pages show whatever is worked through. */
export const LOST_HISTORY: Profile = {
  turns: 150,
  parts: { watch: 30, consume: 15, write: 25, 'lose history': 6, 'lease runs out': 8 },
  changes: { insert: 5, delete: 5 },
  stamps: { past: 1 },
  strides: [1, 2, 3, 10, 40],
  gone: 0.95,
  manyPlaces: true,
};

/** A watcher that was overtaken comes back to the pass that it had begun. */
export const OVERTAKEN: Profile = {
  opening: overtaken,
  turns: 30,
  parts: { watch: 20, consume: 10, write: 15, 'lose history': 4 },
  changes: { insert: 4, delete: 4 },
  stamps: { past: 1 },
  strides: [1, 2, 3, 40],
  gone: 1,
  manyPlaces: true,
  filtered: 0,
};

/** Hard deletes are kept for a few milliseconds only. */
export const RETENTION: Profile = {
  opening: expired,
  turns: 60,
  parts: { watch: 30, consume: 30, write: 6, expire: 10, clock: 3, crash: 1 },
  changes: { insert: 4, delete: 4, change: 1, move: 1 },
  stamps: { next: 1 },
  strides: [2, 5, 40],
};

/** Instances know what the log told up to some place, each up to another, while everything else may happen. */
export const KNOWLEDGE: Profile = {
  ...EVERYTHING,
  isKnowing: true,
  headFails: 0.1,
  parts: { ...EVERYTHING.parts, follow: 25, forget: 1 },
  filtered: 2,
};

/** Little but the newest changes, between watchers that crash and overtake one another, and heads that cannot be written. */
export const HEADS: Profile = {
  turns: 80,
  isKnowing: true,
  headFails: 0.1,
  parts: { watch: 40, consume: 30, write: 10, commit: 5, follow: 20, crash: 2, 'lease runs out': 4 },
  changes: { insert: 4, delete: 3, change: 3 },
  stamps: { next: 3, leave: 1 },
};

/** Filters are edited while instances know some of it. */
export const KNOWN_FILTERS: Profile = {
  ...FILTERS,
  isKnowing: true,
  parts: { ...FILTERS.parts, follow: 25, forget: 1 },
};

/** Consumers of `changes`, by their cursor and by the greatest stamp, while anything may happen. */
export const CHANGES: Profile = {
  ...EVERYTHING,
  parts: { ...EVERYTHING.parts, consume: 40, 'crash of a consumer': 6 },
  reads: ['cursor', 'cursor', 'greatest stamp'],
  filtered: 2,
};

/** Generic tools that are broken off again and again, over records that come, go and change sides. */
export const BROKEN_OFF: Profile = {
  opening: stocked,
  turns: 150,
  parts: { watch: 40, consume: 40, write: 20, commit: 5, operate: 2, 'crash of a consumer': 20 },
  changes: { insert: 6, delete: 3, change: 8 },
  stamps: { next: 1 },
  strides: [2, 5, 16, 40],
  manyPlaces: true,
  smallPages: true,
  reads: ['greatest stamp', 'greatest stamp', 'cursor'],
  filtered: 2,
};

/** The same where hard deletes are kept for a few milliseconds only. */
export const EXPIRING_CHANGES: Profile = {
  ...RETENTION,
  reads: ['cursor', 'greatest stamp', 'cursor'],
  filtered: 1,
};

/** Numbers and texts under one `id`, which come, go, move and turn into each other. */
export const NUMBERS: Profile = {
  turns: 150,
  parts: { watch: 35, consume: 40, write: 20, commit: 5 },
  changes: { insert: 6, delete: 4, move: 2, change: 1, retype: 2 },
  stamps: { next: 3, leave: 1, past: 1 },
  numbers: true,
  filtered: 0,
};

/** The same while watchers crash, overtake one another and leave effects behind, and history is lost. */
export const CLAIMANTS: Profile = {
  ...NUMBERS,
  parts: {
    watch: 40,
    consume: 25,
    write: 18,
    commit: 4,
    crash: 2,
    'lose history': 0.5,
    'lose collection': 0.5,
    'lease runs out': 4,
    hang: 1,
    wake: 2,
    abandon: 3,
    'what is left behind': 8,
  },
};

/** The ledger refuses some identities and the database some stamps for a while, while records turn into one another. */
export const QUARANTINE: Profile = {
  turns: 150,
  parts: {
    watch: 40,
    consume: 30,
    write: 20,
    commit: 4,
    refuse: 2,
    'take again': 2,
    'look after': 12,
    crash: 1,
    'lease runs out': 2,
  },
  changes: { insert: 3, delete: 2, move: 5, change: 1 },
  stamps: { next: 2, leave: 1 },
};

/** The same while terms are given up, watchers overtake one another, and history is lost. */
export const LATE_QUARANTINE: Profile = {
  ...QUARANTINE,
  gone: 0.6,
  parts: {
    ...QUARANTINE.parts,
    'lose collection': 0.5,
    'lose history': 0.5,
    'lease runs out': 5,
    hang: 1,
    wake: 2,
    abandon: 4,
    'what is left behind': 10,
  },
};

/** The same with numbers and texts under one `id`. */
export const QUARANTINED_NUMBERS: Profile = {
  ...NUMBERS,
  parts: LATE_QUARANTINE.parts,
};

/** A filter is edited while the database refuses the stamps of some records. */
export const REFUSED_STAMPS: Profile = {
  ...FILTERS,
  parts: { ...FILTERS.parts, refuse: 3, 'take again': 2, 'look after': 8 },
};
