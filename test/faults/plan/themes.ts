import type { Outage, Which } from './faults.js';
import { someHeldCommand } from './held-commands.js';
import { type KindPassCut, someKindPass } from './kind-passes.js';
import type { OperationWeights } from './operations.js';
import { someCutOwnPass, someOwnPass } from './own-passes.js';
import type { Random } from './random.js';

/** A sort of history: the database it runs on, and the outages that it must contain. */
export interface Theme {
  name: string;
  /** Members of the replica set. */
  nodes: 1 | 3;
  /** Whether the server keeps the shortest log it can. */
  shortOplog: boolean;
  outages(random: Random): Outage[];
  /** The operations that come more or less often than in others. */
  operations?: OperationWeights;
  /** About how long the writers of a round should take (milliseconds), where its outages last long. */
  roundMs?: number;
}

const crashes: Theme = {
  name: 'crashes',
  nodes: 1,
  shortOplog: false,
  outages: (random) => [
    { do: 'killService', which: 0, away: random.below(1500) },
    { do: 'killService', which: 1, away: random.below(1500) },
    { do: 'restartService', which: someService(random) },
    { do: 'pauseLeader' },
    { do: 'killMongod', away: random.below(1500) },
    { do: 'cutConnections', which: someService(random), ending: 'FIN', ...severalTimes(random) },
    { do: 'cutConnections', which: someService(random), ending: 'RST', ...severalTimes(random) },
    { do: 'blackHole', which: someService(random), away: 1000 + random.below(8000) },
    heldCommand(random),
    ownPass(random, false),
    cutOwnPass(random),
    kindPass(random, ['killed', 'paused']),
  ],
};

const lostHistory: Theme = {
  name: 'lost history',
  nodes: 1,
  shortOplog: true,
  outages: (random) => [
    { do: 'passOplog', how: 'paused' },
    { do: 'passOplog', how: random.pick(['stopped', 'killed'] as const) },
    { do: 'killMongod', away: random.below(1500) },
    { do: 'restartService', which: someService(random) },
    { do: 'killService', which: someService(random), away: random.below(1500) },
    ownPass(random, true),
    cutOwnPass(random),
    kindPass(random, ['killed', 'forgotten', 'forgotten']),
  ],
};

const failOver: Theme = {
  name: 'fail-over',
  nodes: 3,
  shortOplog: false,
  outages: (random) => [
    { do: 'killPrimary' },
    { do: 'killPrimary' },
    { do: 'pauseLeader' },
    { do: 'killService', which: someService(random), away: random.below(1500) },
    { do: 'restartService', which: someService(random) },
    ownPass(random, random.chance(0.5)),
    cutOwnPass(random),
    kindPass(random, ['killed', 'paused']),
  ],
};

const HELD = 4;

/** A write of a term that was given up lands in the next one, while its records become other ones, or none. */
const lateCommands: Theme = {
  name: 'late commands',
  nodes: 1,
  shortOplog: false,
  outages: (random) => [
    ...Array.from({ length: HELD }, () => heldCommand(random)),
    { do: 'pauseLeader' },
    { do: 'restartService', which: someService(random) },
    ownPass(random, random.chance(0.5)),
    cutOwnPass(random),
    kindPass(random, ['killed', 'paused']),
  ],
  operations: {
    insertWithoutId: 10,
    moveId: 10,
    swapIds: 6,
    moveAway: 8,
    moveBack: 8,
    claim: 14,
    delete: 14,
    insertDoubled: 5,
  },
  roundMs: 12_000,
};

const THEMES: readonly Theme[] = [crashes, lostHistory, failOver, lateCommands];

/** Any four seeds in a row contain every theme, and thereby every kind of fault. */
export function themeOf(seed: number): Theme {
  return THEMES[seed % THEMES.length] ?? crashes;
}

function heldCommand(random: Random): Outage {
  return { do: 'holdCommand', ...someHeldCommand(random) };
}

function ownPass(random: Random, isLost: boolean): Outage {
  return { do: isLost ? 'lostPlace' : 'ownPass', ...someOwnPass(random, isLost) };
}

function cutOwnPass(random: Random): Outage {
  return { do: 'cutOwnPass', ...someCutOwnPass(random) };
}

function kindPass(random: Random, ways: KindPassCut['how'][]): Outage {
  return { do: 'kindPass', ...someKindPass(random, ways) };
}

function severalTimes(random: Random): { times: number; pause: number } {
  return { times: 10 + random.below(10), pause: 50 + random.below(250) };
}

function someService(random: Random): Which {
  return random.chance(0.5) ? 0 : 1;
}
