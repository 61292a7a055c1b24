import type { Profile } from './profile.js';
import { PASSES_BESIDE, QUARANTINE_BESIDE_PASSES } from './sorts-passes.js';
import { QUARANTINE } from './sorts.js';

/** Records of a kind that was just created, under its pass, while instances end and history is lost. */
export const CREATED_KINDS: Profile = {
  turns: 120,
  isCreated: true,
  parts: {
    watch: 30,
    'pass over the kind': 25,
    consume: 30,
    write: 20,
    commit: 4,
    raise: 1,
    'lease runs out': 4,
    crash: 2,
    abandon: 1,
    'what is left behind': 3,
    'lose history': 0.5,
  },
  changes: { insert: 4, delete: 3, move: 2, change: 2, swap: 1 },
  stamps: { next: 2, past: 1, leave: 1 },
};

/** The same with numbers as `id`s. */
export const CREATED_NUMBERS: Profile = {
  ...CREATED_KINDS,
  changes: { insert: 6, delete: 4, move: 3, change: 1, retype: 2 },
  numbers: true,
};

/** The collection of such a kind is dropped or replaced again and again. */
export const LOST_CREATED_KINDS: Profile = {
  ...CREATED_KINDS,
  turns: 150,
  parts: { ...CREATED_KINDS.parts, 'pass over the kind': 35, 'lose collection': 2 },
};

/** Such a kind, while applications are left to passes of their own, or get one. */
export const CREATED_KINDS_BESIDE_PASSES: Profile = {
  ...CREATED_KINDS,
  lanes: PASSES_BESIDE.lanes!,
  parts: { ...CREATED_KINDS.parts, 'work beside': 45, 'lose history': 1, 'lose old history': 3 },
  filtered: 2,
};

/** The same, whose collection is dropped or replaced as well. */
export const LOST_CREATED_KINDS_BESIDE_PASSES: Profile = {
  ...CREATED_KINDS_BESIDE_PASSES,
  turns: 150,
  parts: { ...CREATED_KINDS_BESIDE_PASSES.parts, 'pass over the kind': 35, 'lose collection': 2 },
};

/** What the ledger and the database refuse of such a kind. */
export const QUARANTINE_OF_CREATED_KINDS: Profile = {
  ...QUARANTINE,
  isCreated: true,
  parts: { ...QUARANTINE.parts, 'pass over the kind': 25 },
};

/** The same, while applications have passes of their own. */
export const QUARANTINE_OF_CREATED_KINDS_BESIDE_PASSES: Profile = {
  ...QUARANTINE_BESIDE_PASSES,
  isCreated: true,
  parts: { ...QUARANTINE_BESIDE_PASSES.parts, 'pass over the kind': 25 },
};
