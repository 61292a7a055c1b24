import type { Random } from './random.js';

/** How the leader of a pass over a new kind ends, so many milliseconds after it has stored that one begins. */
export interface KindPassCut {
  after: number;
  how: 'killed' | 'paused' | 'forgotten';
}

/** A kind is created, or created again, and the leaders of its pass end. */
export interface KindPassPlan {
  cuts: KindPassCut[];
  /** How long it is unknown before, if it existed (milliseconds). */
  away: number;
}

const LONGEST_AFTER_MS = 150;
const MOST_CUTS = 2;
const LONGEST_AWAY_MS = 1500;

/** `ways`: how leaders can end in the theme. */
export function someKindPass(random: Random, ways: readonly KindPassCut['how'][]): KindPassPlan {
  const cuts = Array.from({ length: 1 + random.below(MOST_CUTS) }, () => ({
    after: random.below(LONGEST_AFTER_MS),
    how: random.pick(ways),
  }));
  return { cuts, away: random.below(LONGEST_AWAY_MS) };
}
