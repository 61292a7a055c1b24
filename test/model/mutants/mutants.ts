import type { ProfileName } from '../schedule/profiles.js';
import type { MutantName } from './names.js';

/**
 * In which sort of schedule each mutant is caught soonest, and the seed of one that catches it: the search begins there, and
 * goes on from there where the protocol has changed. The whole protocol passes all of these sorts.
 */
export const MUTANTS: Record<MutantName, [profile: ProfileName, seed: number]> = {
  'rule 1 left out': ['everything', 1],
  'rule 2 left out': ['everything', 120],
  'rule 3 left out': ['everything', 1],
  'rule 4 left out': ['resurrections', 70],
  'rule 5 left out': ['filters', 8],
  'rule 6 left out': ['everything', 56],
  'rule 4 on inserts only': ['moves', 457],
  'token stored before the effect': ['crashes', 11],
  '< for <=': ['everything', 282],
  'no mark': ['everything', 1],
  'a moment shown that is not yet worked through': ['lost history', 2],
  'filters read from services by the feed': ['filters', 412],
  'services read before effective': ['new filters', 995],
  'no compare-and-set': ['new filters', 1051],
  'a removed service forgotten': ['filters', 8],
  'ledger entry dropped before its tombstone': ['crashes', 14],
  'look-up instead of event': ['everything', 120],
  'no preparing': ['lost history', 588],
  'watched written without the term': ['overtaken', 2730],
  'an abandoned term moves the token': ['abandoned terms', 125],
  'a lease renewed by a timer': ['abandoned terms', 2],
  'entries that keep their age in a pass': ['passes', 4717],
  'events of unknown records not completed': ['swaps', 132],
  'the newest hard delete removed as well': ['retention', 6],
  'hard deletes removed without a horizon': ['retention', 13],
  'no heads': ['knowledge', 1],
  'the token before the head': ['heads', 133],
  'the moment from the database, the filter from memory': ['known filters', 1657],
  'two streams': ['known filters', 56],
  'a head that cannot be written': ['heads', 1525],
  'raised marks known at the start only': ['heads', 1],
  'since left out': ['knowledge', 7353],
  'a raise waits for its moment': ['knowledge', 9],
  'a first harvest of changes that tells of no deletes': ['broken off', 49],
  'pages of changes that settle a window each': ['broken off', 9],
  'the state of an incomplete harvest kept': ['broken off', 17],
  'deletes skipped over a copy that holds something': ['broken off', 4],
};
