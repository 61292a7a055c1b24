import type { MutantName } from '../mutants/names.js';
import { turnsOf } from '../random/dice.js';
import { historyOf } from './history.js';
import { PROFILES, type ProfileName } from './profiles.js';
import { newWorld, play } from './run.js';
import { shrink } from './shrink.js';

/** Which schedules are played: those of the seeds from `seed` on. */
export interface Range {
  profile: ProfileName;
  seed: number;
  schedules: number;
}

/** The first seed of a range whose schedule loses something; nothing where none does. */
export function firstLoss({ profile, seed, schedules }: Range, mutant?: MutantName): number | undefined {
  for (let tried = seed; tried < seed + schedules; tried++) {
    if (lossIn(profile, turnsOf(tried, PROFILES[profile].turns), mutant) !== undefined) return tried;
  }
  return undefined;
}

function lossIn(profile: ProfileName, turns: readonly number[], mutant?: MutantName): string | undefined {
  return play(newWorld(PROFILES[profile], mutant), turns);
}

/** The schedule of a seed, shrunk and told as a history, with the line that plays it again. */
export function explain(profile: ProfileName, seed: number, mutant?: MutantName): string {
  const all = turnsOf(seed, PROFILES[profile].turns);
  const turns = shrink(all, (fewer) => lossIn(profile, fewer, mutant) !== undefined);
  const replay = `npm run test:model -- --profile '${profile}' --turns ${turns.join()}`;
  return `${historyOf(PROFILES[profile], turns, mutant)}\n\nAgain: ${replay}${mutant ? ` --mutant '${mutant}'` : ''}`;
}
