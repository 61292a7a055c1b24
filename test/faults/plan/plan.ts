import { aFlood, type Outage, someDisturbance, type Disturbance, DISTURBANCES } from './faults.js';
import { type Operation, someOperation } from './operations.js';
import { Random } from './random.js';
import { type Theme, themeOf } from './themes.js';

/** Writers that work at the same time. */
export const WRITERS = 6;

const OPERATIONS_PER_ROUND = 250;

/** About how long the writers of a round should take (milliseconds), so that they write all through most faults. */
const ROUND_MS = 4000;
/** The same where an application gets a pass of its own: a leader has to come first. */
const OWN_PASS_MS = 15_000;
const IN_A_BURST = 0.7;

/** How often a round has a flood, beside the one that a history has at least, and how often its outage waits for it. */
const FLOODED = 0.12;
/** The same where an application or a kind gets a pass of its own. */
const FLOODED_PASS = 0.5;
/** How often such a round keeps a disturbance that ends in a pass over everything, which takes the place of that of one application. */
const DROPPED_PASS = 0.25;
const AWAITS_ASIDE = 0.8;

/** An operation, and how long its writer rests before it (milliseconds). */
export interface PlanStep {
  rest: number;
  operation: Operation;
}

/** An outage and disturbances, with writers at work meanwhile. */
export interface Round {
  outage: Outage;
  disturbances: Disturbance[];
  steps: PlanStep[];
  /** Whether the outage waits until an application is worked through beside the others. */
  awaitsAside: boolean;
}

export interface HistoryPlan {
  seed: number;
  theme: Theme;
  rounds: Round[];
}

/** The whole history of a seed: all that is random in it, but for the timing of the machine. */
export function planOf(seed: number, operations: number): HistoryPlan {
  const random = Random.for(seed, 'plan');
  const theme = themeOf(seed);
  const outages = outagesOf(random, theme, Math.round(operations / OPERATIONS_PER_ROUND));
  const disturbances = spread(random.shuffled(DISTURBANCES), outages.length);
  const rounds = outages.map((outage, index): Round => {
    const first = Math.floor((operations * index) / outages.length);
    const end = Math.floor((operations * (index + 1)) / outages.length);
    return {
      outage,
      disturbances: (disturbances[index] ?? []).map((name) => someDisturbance(random, name)),
      steps: stepsOf(random, theme, { first, end, outage }),
      awaitsAside: false,
    };
  });
  return {
    seed,
    theme,
    rounds: withFloods(withPasses(rounds, Random.for(seed, 'passes')), Random.for(seed, 'floods')),
  };
}

/** Most passes of one application may come to their end: what would end them happens in another round. */
function withPasses(rounds: Round[], random: Random): Round[] {
  const moved = rounds.map((round) => {
    const isKept = !hasOwnPass(round) || random.chance(DROPPED_PASS);
    return isKept ? [] : round.disturbances.filter(isLoss);
  });
  const others = rounds.filter((round) => !hasOwnPass(round));
  const added = new Map<Round, Disturbance[]>();
  for (const one of moved.flat()) {
    const other = random.pick(others);
    added.set(other, [...(added.get(other) ?? []), one]);
  }
  return rounds.map((round, index) => {
    const kept = round.disturbances.filter((one) => moved[index]?.includes(one) !== true);
    return { ...round, disturbances: [...kept, ...(added.get(round) ?? [])] };
  });
}

/** One round has a flood at least, before its other disturbances. They are drawn apart, so that nothing else of a plan depends on them. */
function withFloods(rounds: Round[], random: Random): Round[] {
  const isFlooded = rounds.map((round) => random.chance(hasPass(round) ? FLOODED_PASS : FLOODED));
  isFlooded[random.below(rounds.length)] = true;
  return rounds.map((round, index) => {
    if (!isFlooded[index]) return round;
    const disturbances = [aFlood(random), ...round.disturbances];
    return { ...round, disturbances, awaitsAside: random.chance(AWAITS_ASIDE) };
  });
}

/** All outages of the theme in any order, and further ones of its kinds as long as there is work for them. */
function outagesOf(random: Random, theme: Theme, wanted: number): Outage[] {
  const outages = random.shuffled(theme.outages(random));
  while (outages.length < wanted) outages.push(random.pick(theme.outages(random)));
  return outages;
}

/** Deals names out to so many rounds: each name at least once, and each round at least one. */
function spread<T>(names: T[], rounds: number): T[][] {
  const dealt = Array.from({ length: rounds }, (): T[] => []);
  for (let index = 0; index < Math.max(rounds, names.length); index++) {
    const name = names[index % names.length];
    if (name !== undefined) dealt[index % rounds]?.push(name);
  }
  return dealt;
}

function stepsOf(
  random: Random,
  { operations, roundMs = ROUND_MS }: Theme,
  { first, end, outage }: { first: number; end: number; outage: Outage },
): PlanStep[] {
  const wholeMs = hasOwnPass({ outage }) ? Math.max(roundMs, OWN_PASS_MS) : roundMs;
  const longest = (2 * WRITERS * wholeMs) / (end - first) / (1 - IN_A_BURST);
  return Array.from({ length: end - first }, (_, index) => ({
    rest: random.chance(IN_A_BURST) ? 0 : random.below(longest),
    operation: someOperation(random, first + index, operations),
  }));
}

function hasOwnPass({ outage }: Pick<Round, 'outage'>): boolean {
  return outage.do === 'ownPass' || outage.do === 'lostPlace' || outage.do === 'cutOwnPass';
}

function hasPass(round: Round): boolean {
  return hasOwnPass(round) || round.outage.do === 'kindPass';
}

/** Whether all records of a kind are lost, or another term begins that has to read them. */
function isLoss(disturbance: Disturbance): boolean {
  return ['dropCollection', 'renameOver', 'renameAway', 'recreateKind'].includes(disturbance.do);
}
