import type { MutantName } from './mutants/names.js';
import type { ProfileName } from './schedule/profiles.js';

/** What `scripts/test-model.mjs` was asked for. */
interface Options {
  /** How many schedules of the sort `everything` the whole protocol passes; of each other sort a tenth of them. */
  schedules: number;
  /** The seed of the first. */
  seed: number;
  /** One schedule to be told as a history instead. */
  replay?: { profile: ProfileName; turns: number[]; mutant?: MutantName };
}

const DEFAULT_SCHEDULES = 1000;

export const options: Options = {
  schedules: DEFAULT_SCHEDULES,
  seed: 1,
  ...(JSON.parse(process.env['TIDEMARK_MODEL'] ?? '{}') as Partial<Options>),
};
