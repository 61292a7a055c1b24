import { someClaimed, someContent, someId, type Content } from './keys.js';
import type { Random } from './random.js';
import { type Stamp, updatedStamp } from './stamps.js';

/** Which of a leader's writes is held: one to this collection, to that of records, or the end of a transaction. */
export type LeaderWrite =
  | 'members'
  | 'products'
  | 'tidemark.incompleteidentities'
  | 'tidemark.ledger'
  | 'tidemark.quarantine'
  | 'tidemark.filterversions'
  | 'tidemark.moments'
  | 'tidemark.heads'
  | 'tidemark.restamps'
  | 'tidemark.channels'
  | 'tidemark.emailduplicates'
  | 'tidemark.emailholders'
  | 'commit';

/**
 * How the term ends whose write is held: given up after a long silence, not renewed since its lease is held as well, or with
 * its process (`kill -9`).
 */
export type TermEnding = 'silence' | 'unrenewed' | 'killed';

/** What another program does to a record that the held write is about. `pick`, from 0 to 1: to which of them. */
export type ChaseStep = { pick: number; isWatched: boolean } & (
  | { to: 'anotherApplication' | 'anotherOrganization' | 'backAgain' | 'noApplication' | 'noId' | 'nothing' }
  | { to: 'anotherId'; id: { member: string; product: string } }
  | { to: 'number' | 'text'; number: number }
  | { to: 'anotherContent'; stamp: Stamp; content: Content }
);

/** A write of the leader that reaches the server only after its term, and what happens to its records around that. */
export interface HeldCommandPlan {
  write: LeaderWrite;
  ending: TermEnding;
  /** After the next term has begun, and after the write has landed. */
  before: ChaseStep[];
  after: ChaseStep[];
}

const WRITES: Record<LeaderWrite, number> = {
  members: 3,
  products: 4,
  'tidemark.incompleteidentities': 6,
  'tidemark.ledger': 6,
  'tidemark.quarantine': 4,
  'tidemark.filterversions': 1,
  'tidemark.moments': 1,
  'tidemark.heads': 1,
  'tidemark.restamps': 1,
  'tidemark.channels': 1,
  'tidemark.emailduplicates': 1,
  'tidemark.emailholders': 1,
  commit: 3,
};

const ENDINGS: Record<TermEnding, number> = { silence: 1, unrenewed: 3, killed: 3 };

const STEPS: Record<ChaseStep['to'], number> = {
  anotherApplication: 3,
  anotherOrganization: 1,
  backAgain: 3,
  noApplication: 2,
  noId: 3,
  nothing: 3,
  anotherId: 3,
  number: 2,
  text: 2,
  anotherContent: 1,
};

const MOST_STEPS = 4;

export function someHeldCommand(random: Random): HeldCommandPlan {
  return {
    write: random.weighted(WRITES),
    ending: random.weighted(ENDINGS),
    before: someSteps(random),
    after: someSteps(random),
  };
}

function someSteps(random: Random): ChaseStep[] {
  return Array.from({ length: 1 + random.below(MOST_STEPS) }, () => someStep(random));
}

function someStep(random: Random): ChaseStep {
  const at = { pick: random.next(), isWatched: random.chance(0.6) };
  const to = random.weighted(STEPS);
  if (to === 'anotherId')
    return { ...at, to, id: { member: someId(random, 'member'), product: someId(random, 'product') } };
  if (to === 'number' || to === 'text') return { ...at, to, number: someClaimed(random) };
  if (to === 'anotherContent')
    return { ...at, to, stamp: updatedStamp(random), content: someContent(random) };
  return { ...at, to };
}
