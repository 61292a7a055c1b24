import type { Outage, Which } from './faults.js';
import type { Random } from './random.js';

/** A sort of history: the database it runs on, and the outages that it must contain. */
export interface Theme {
  name: string;
  /** Members of the replica set. */
  nodes: 1 | 3;
  /** Whether the server keeps the shortest log it can. */
  shortOplog: boolean;
  outages(random: Random): Outage[];
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
  ],
};

const THEMES: readonly Theme[] = [crashes, lostHistory, failOver];

/** Any three seeds in a row contain every theme, and thereby every kind of fault. */
export function themeOf(seed: number): Theme {
  return THEMES[seed % THEMES.length] ?? crashes;
}

function severalTimes(random: Random): { times: number; pause: number } {
  return { times: 10 + random.below(10), pause: 50 + random.below(250) };
}

function someService(random: Random): Which {
  return random.chance(0.5) ? 0 : 1;
}
