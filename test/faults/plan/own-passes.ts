import { type Operation, type OperationWeights, someOperation } from './operations.js';
import type { Random } from './random.js';

/** How far a pass of one application has come when its leader is killed: stored, its stream opened, or a stretch worked through. */
export type PassStage = 'stored' | 'opened' | 'advanced';

/** A leader that is killed so many milliseconds after the pass has come so far. */
export interface PassCut {
  stage: PassStage;
  after: number;
  /** Whether the log is not there any more from which the next leader would go on. */
  isForgotten: boolean;
}

/** An application gets a pass of its own while no instance leads: by an entry for it, or since the log is lost behind its place. */
export interface OwnPassPlan {
  isLost: boolean;
  /** The application that is preferred, where either may get the pass. */
  isElsewhere: boolean;
  ending: 'killed' | 'left';
  cuts: PassCut[];
  /** What other programs do meanwhile. */
  seed: number;
}

const LONGEST_AFTER_MS = 120;
const MOST_CUTS = 2;
const FORGOTTEN = 0.2;
const FEWEST_WRITES = 6;
const MORE_WRITES = 10;

/** Records come, go and change places. Transactions that wait for a `max` would wait for the pass. */
const WRITES: OperationWeights = {
  moveAway: 18,
  moveBack: 18,
  moveId: 8,
  claim: 10,
  updateMany: 3,
  transaction: 0,
};

export function someOwnPass(random: Random, isLost: boolean): OwnPassPlan {
  return {
    isLost,
    isElsewhere: random.chance(0.4),
    ending: random.pick(['killed', 'left'] as const),
    cuts: [],
    seed: random.below(2 ** 31),
  };
}

export function someCutOwnPass(random: Random): OwnPassPlan {
  const cuts = Array.from({ length: 1 + random.below(MOST_CUTS) }, (): PassCut => ({
    stage: random.pick(['stored', 'opened', 'advanced'] as const),
    after: random.below(LONGEST_AFTER_MS),
    isForgotten: random.chance(FORGOTTEN),
  }));
  return { ...someOwnPass(random, random.chance(0.4)), cuts };
}

/** Some operations at once. */
export function someWrites(random: Random): Operation[] {
  return Array.from({ length: FEWEST_WRITES + random.below(MORE_WRITES) }, (_, index) =>
    someOperation(random, index, WRITES),
  );
}
