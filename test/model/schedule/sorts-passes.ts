import type { Profile } from './profile.js';
import {
  CRASHES_BESIDE,
  FILTERS_BESIDE,
  HEADS_BESIDE,
  LANES,
  LOST_HISTORY_BESIDE,
  MOVES_BESIDE,
  NUMBERS_BESIDE,
  QUARANTINE_BESIDE,
  RETENTION_BESIDE,
} from './sorts-beside.js';
import { KNOWLEDGE } from './sorts.js';

const SOME = { aside: 0.3, later: 0.5 };
/** The log is lost for all loops, or only for those that are behind. */
const LOST = { 'work beside': 45, 'lose history': 1, 'lose old history': 3 };

/** Applications are left to passes of their own, or get one where their place in the log is lost, while anything may happen. */
export const PASSES_BESIDE: Profile = {
  ...LANES,
  lanes: SOME,
  parts: { ...LANES.parts, ...LOST },
};

/** The first passes of all, of which nobody has been shown anything, are cut off and begin anew. */
export const FIRST_PASSES_BESIDE: Profile = {
  ...CRASHES_BESIDE,
  turns: 60,
  lanes: { aside: 0.1, later: 0.9 },
  parts: { ...CRASHES_BESIDE.parts, ...LOST },
  changes: { insert: 5, delete: 3, move: 3, change: 1, retype: 1 },
  stamps: { next: 2, past: 1, leave: 2 },
  numbers: true,
};

/** Records move between applications with passes of their own, and what is left behind lands late. */
export const MOVES_BESIDE_PASSES: Profile = {
  ...MOVES_BESIDE,
  lanes: SOME,
  gone: 0.3,
  stamps: { leave: 3, next: 1, past: 1, omit: 1 },
  parts: { ...MOVES_BESIDE.parts, ...LOST, 'work beside': 50, abandon: 2, 'what is left behind': 8 },
};

/** Leaders end between any two writes of such passes. */
export const CRASHES_BESIDE_PASSES: Profile = {
  ...CRASHES_BESIDE,
  lanes: SOME,
  parts: { ...CRASHES_BESIDE.parts, ...LOST, 'lose old history': 4 },
};

/** Places are lost again and again, and pages show whatever is worked through. */
export const LOST_PLACES_BESIDE: Profile = {
  ...LOST_HISTORY_BESIDE,
  lanes: SOME,
  parts: { ...LOST_HISTORY_BESIDE.parts, ...LOST, 'lose history': 2, 'lose old history': 6 },
};

/** Instances know the log up to some place each, so that they raise marks while passes are under way. */
export const KNOWLEDGE_BESIDE_PASSES: Profile = {
  ...KNOWLEDGE,
  lanes: SOME,
  parts: { ...KNOWLEDGE.parts, ...LOST },
};

/** The newest changes alone, of applications with passes of their own. */
export const HEADS_BESIDE_PASSES: Profile = {
  ...HEADS_BESIDE,
  lanes: SOME,
  parts: { ...HEADS_BESIDE.parts, ...LOST },
};

/** Numbers and texts under one `id` move between such applications. */
export const NUMBERS_BESIDE_PASSES: Profile = {
  ...NUMBERS_BESIDE,
  lanes: SOME,
  parts: { ...NUMBERS_BESIDE.parts, ...LOST },
};

/** Filters of such applications. */
export const FILTERS_BESIDE_PASSES: Profile = {
  ...FILTERS_BESIDE,
  lanes: SOME,
  parts: { ...FILTERS_BESIDE.parts, ...LOST },
};

/** What the ledger and the database refuse, of such applications. */
export const QUARANTINE_BESIDE_PASSES: Profile = {
  ...QUARANTINE_BESIDE,
  lanes: SOME,
  parts: { ...QUARANTINE_BESIDE.parts, ...LOST },
};

/** Hard deletes of such applications that are kept for a few milliseconds. */
export const RETENTION_BESIDE_PASSES: Profile = {
  ...RETENTION_BESIDE,
  lanes: SOME,
  parts: { ...RETENTION_BESIDE.parts, ...LOST, 'lease runs out': 2 },
};

/** Applications that are shown between passes of their own, under so many `id`s that most are new, while marks are raised at any time. */
export const SHOWN_BESIDE_PASSES: Profile = {
  turns: 200,
  lanes: { aside: 0.3, later: 0.4 },
  parts: {
    watch: 25,
    'work beside': 35,
    consume: 40,
    write: 14,
    raise: 3,
    'lose old history': 2.5,
    'lose history': 0.2,
    'lease runs out': 0.5,
  },
  changes: { insert: 5, delete: 4, change: 1, move: 1 },
  stamps: { past: 2, next: 1, leave: 1 },
  strides: [1, 3, 8, 20, 60],
  gone: 0.5,
  manyPlaces: true,
  filtered: 0,
};

/** The same for instances that go by what they know. */
export const KNOWN_BESIDE_PASSES: Profile = {
  ...SHOWN_BESIDE_PASSES,
  isKnowing: true,
  parts: { ...SHOWN_BESIDE_PASSES.parts, follow: 20, forget: 0.5 },
};
