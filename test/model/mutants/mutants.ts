import type { ProfileName } from '../schedule/profiles.js';
import type { MutantName } from './names.js';

/** In which sort of schedule each mutant is caught soonest. The whole protocol passes all of these sorts. */
export const MUTANTS: Record<MutantName, ProfileName> = {
  'rule 1 left out': 'everything',
  'rule 2 left out': 'everything',
  'rule 3 left out': 'everything',
  'rule 4 left out': 'resurrections',
  'rule 5 left out': 'filters',
  'rule 6 left out': 'everything',
  'rule 4 on inserts only': 'moves',
  'token stored before the effect': 'crashes',
  '< for <=': 'everything',
  'no mark': 'everything',
  'a moment shown that is not yet worked through': 'lost history',
  'filters read from services by the feed': 'filters',
  'services read before effective': 'new filters',
  'no compare-and-set': 'new filters',
  'a removed service forgotten': 'filters',
  'ledger entry dropped before its tombstone': 'crashes',
  'look-up instead of event': 'everything',
  'no preparing': 'lost history',
  'watched written without the term': 'overtaken',
  'an abandoned term moves the token': 'abandoned terms',
  'a lease renewed by a timer': 'abandoned terms',
  'entries that keep their age in a pass': 'passes',
  'events of unknown records not completed': 'swaps',
  'the newest hard delete removed as well': 'retention',
  'hard deletes removed without a horizon': 'retention',
};
