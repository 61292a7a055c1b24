import { MUTANTS } from './mutants/mutants.js';
import type { MutantName } from './mutants/names.js';
import { firstLoss } from './schedule/search.js';

/** Milliseconds for one mutant. */
const LONG = 600_000;
const SCHEDULES = 30_000;

const names = Object.keys(MUTANTS) as MutantName[];

describe('a protocol with one piece spoiled loses something, in a schedule in which the whole protocol loses nothing', () => {
  it.each(names)(
    '%s',
    (mutant) => {
      const [profile, seed] = MUTANTS[mutant];
      const lost = firstLoss({ profile, seed, schedules: SCHEDULES }, mutant);
      expect(lost).toBeDefined();
      expect(firstLoss({ profile, seed: lost!, schedules: 1 })).toBeUndefined();
    },
    LONG,
  );
});
