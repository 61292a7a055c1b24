import type { Kind } from '../../../src/kinds/index.js';
import { type CreatedKind, HOUSE_KINDS } from './created-kinds.js';
import { type FloodPlan, someFlood } from './floods.js';
import type { HeldCommandPlan } from './held-commands.js';
import { SERVICES, VIEWS, type ServiceName } from './keys.js';
import type { KindPassPlan } from './kind-passes.js';
import type { OwnPassPlan } from './own-passes.js';
import type { Random } from './random.js';

/** One of the two service processes. */
export type Which = 0 | 1;

/** What an operator or another program does to the whole. Times in milliseconds. */
export type Disturbance =
  | { do: 'editFilter'; service: ServiceName; views: number[]; pause: number }
  | { do: 'removeService'; service: ServiceName; view: number; away: number }
  | { do: 'disableService'; service: ServiceName; view: number; away: number }
  | { do: 'dropCollection'; kind: Kind }
  | { do: 'renameOver'; kind: Kind; seed: number }
  | { do: 'renameAway'; kind: Kind; away: number }
  | { do: 'recreateKind'; kind: CreatedKind; away: number }
  | ({ do: 'flood' } & FloodPlan);

/** What goes down, and comes back. Times in milliseconds. */
export type Outage =
  | { do: 'killService'; which: Which; away: number }
  | { do: 'restartService'; which: Which }
  | { do: 'pauseLeader' }
  | { do: 'killMongod'; away: number }
  | { do: 'killPrimary' }
  | { do: 'cutConnections'; which: Which; ending: 'FIN' | 'RST'; times: number; pause: number }
  | { do: 'blackHole'; which: Which; away: number }
  | ({ do: 'holdCommand' } & HeldCommandPlan)
  | ({ do: 'ownPass' | 'lostPlace' | 'cutOwnPass' } & OwnPassPlan)
  | ({ do: 'kindPass' } & KindPassPlan)
  | { do: 'passOplog'; how: 'stopped' | 'killed' | 'paused' };

export type Fault = Disturbance | Outage;

/** Those that are dealt out to the rounds; floods come on top of them. */
export type DealtDisturbance = Exclude<Disturbance['do'], 'flood'>;

/** The kinds that can lose their collection. */
const LOSABLE: readonly Kind[] = [...HOUSE_KINDS, 'price'];

const disturbances: { [Name in DealtDisturbance]: (random: Random) => Disturbance } = {
  editFilter: (random) => {
    const [first = 0, second = 1] = someViews(random);
    const views = random.chance(0.5) ? [first, second, first] : [first, second];
    return { do: 'editFilter', service: random.pick(SERVICES), views, pause: random.below(600) };
  },
  removeService: (random) => ({ do: 'removeService', ...withdrawn(random) }),
  disableService: (random) => ({ do: 'disableService', ...withdrawn(random) }),
  dropCollection: (random) => ({ do: 'dropCollection', kind: random.pick(LOSABLE) }),
  renameOver: (random) => ({
    do: 'renameOver',
    kind: random.pick(HOUSE_KINDS),
    seed: random.below(2 ** 31),
  }),
  renameAway: (random) => ({ do: 'renameAway', kind: random.pick(LOSABLE), away: random.below(3000) }),
  recreateKind: (random) => ({
    do: 'recreateKind',
    kind: random.pick(['order', 'price']),
    away: random.below(3000),
  }),
};

export const DISTURBANCES = Object.keys(disturbances) as DealtDisturbance[];

export function someDisturbance(random: Random, name: DealtDisturbance): Disturbance {
  return disturbances[name](random);
}

export function aFlood(random: Random): Disturbance {
  return { do: 'flood', ...someFlood(random) };
}

function withdrawn(random: Random): { service: ServiceName; view: number; away: number } {
  return {
    service: random.pick(SERVICES),
    view: random.below(VIEWS.length),
    away: 500 + random.below(3000),
  };
}

function someViews(random: Random): number[] {
  return random.shuffled(VIEWS.map((_, index) => index));
}
