import type { Kind } from '../../../src/kinds/index.js';
import { HOUSE_KINDS } from './created-kinds.js';
import { type DesignedWrite, someDesignedWrite } from './designed-writes.js';
import {
  CHANNELS,
  type Content,
  LONG_CHANNEL_ID,
  someClaimed,
  someContent,
  someId,
  someNumber,
} from './keys.js';
import type { Random } from './random.js';
import { insertedStamp, type Stamp, updatedStamp } from './stamps.js';

/**
 * One write of the workload. The first three go through the API, all others straight into MongoDB. `pick`, from 0 to 1,
 * says which of the records that stand there then is meant, by its place in `_id` order.
 */
export type Operation =
  | { do: 'create'; content: Content }
  | { do: 'patch'; pick: number; content: Content; emptied: boolean }
  | { do: 'patchAddress'; pick: number; content: Content }
  | { do: 'insert'; kind: Kind; id: string; stamp: Stamp; content: Content }
  | { do: 'insertWithoutId'; kind: Kind; stamp: Stamp; content: Content }
  | { do: 'update'; kind: Kind; pick: number; stamp: Stamp; content: Content }
  | { do: 'delete'; kind: Kind; pick: number }
  | { do: 'reinsert'; kind: Kind; pick: number; stamp: Stamp; content: Content }
  | { do: 'moveId'; kind: Kind; pick: number; id: string; stamp: Stamp }
  | { do: 'swapIds'; kind: Kind; picks: [number, number] }
  | { do: 'moveAway'; kind: Kind; pick: number; stamp: Stamp }
  | { do: 'moveBack'; kind: Kind; pick: number; stamp: Stamp }
  | { do: 'updateMany'; kind: Kind; stamp: Stamp; n: number }
  | { do: 'transaction'; kind: Kind; picks: [number, number]; stamp: Stamp; content: Content; id: string }
  | { do: 'addChannel'; pick: number; channel: string; stamp: Stamp }
  | { do: 'removeChannel'; pick: number; channel: string; stamp: Stamp }
  | { do: 'insertDoubled'; kind: Kind; id: string; stamp: Stamp; content: Content; inData: boolean }
  | { do: 'insertLongChannel'; id: string; stamp: Stamp; content: Content }
  | { do: 'insertLongEmail'; id: string; stamp: Stamp; content: Content }
  | { do: 'upsertNumber'; kind: Kind; number: number; stamp: Stamp; content: Content }
  | { do: 'claim'; kind: Kind; number: number; claims: Claim[]; stamp: Stamp; content: Content }
  | { do: 'ofDesign'; write: DesignedWrite };

/** What becomes of the records that claim one `id`, by the number or by its text; `pick` is as above, among them. */
export type Claim = { act: 'number' | 'text' | 'delete' | 'retype'; pick: number };

export type OperationName = Operation['do'];

const WEIGHTS: Record<OperationName, number> = {
  create: 6,
  patch: 8,
  patchAddress: 4,
  insert: 26,
  insertWithoutId: 1,
  update: 22,
  delete: 8,
  reinsert: 6,
  moveId: 5,
  swapIds: 3,
  moveAway: 3,
  moveBack: 3,
  updateMany: 1,
  transaction: 4,
  addChannel: 4,
  removeChannel: 4,
  insertDoubled: 3,
  insertLongChannel: 1,
  insertLongEmail: 2,
  upsertNumber: 3,
  claim: 8,
  ofDesign: 45,
};

/** How often operations come instead, where a history is about them. */
export type OperationWeights = Partial<Record<OperationName, number>>;

/** The operation number `index` of a history. */
export function someOperation(random: Random, index: number, weights: OperationWeights = {}): Operation {
  return make[random.weighted({ ...WEIGHTS, ...weights })](random, index);
}

const make: { [Name in OperationName]: (random: Random, index: number) => Operation } = {
  create: (random) => ({ do: 'create', content: someContent(random) }),
  patch: (random) => ({
    do: 'patch',
    pick: random.next(),
    content: someContent(random),
    emptied: random.chance(0.3),
  }),
  patchAddress: (random) => ({ do: 'patchAddress', pick: random.next(), content: someContent(random) }),
  insert: (random) => {
    const kind = random.pick(HOUSE_KINDS);
    return {
      do: 'insert',
      kind,
      id: someId(random, kind),
      stamp: insertedStamp(random),
      content: someContent(random),
    };
  },
  insertWithoutId: (random) => ({
    do: 'insertWithoutId',
    kind: random.pick(HOUSE_KINDS),
    stamp: insertedStamp(random),
    content: someContent(random),
  }),
  update: (random) => ({ do: 'update', ...touched(random), content: someContent(random) }),
  delete: (random) => ({ do: 'delete', kind: random.pick(HOUSE_KINDS), pick: random.next() }),
  reinsert: (random) => ({
    do: 'reinsert',
    kind: random.pick(HOUSE_KINDS),
    pick: random.next(),
    stamp: insertedStamp(random),
    content: someContent(random),
  }),
  moveId: (random) => {
    const one = touched(random);
    return { do: 'moveId', ...one, id: someId(random, one.kind) };
  },
  swapIds: (random) => ({
    do: 'swapIds',
    kind: random.pick(HOUSE_KINDS),
    picks: [random.next(), random.next()],
  }),
  moveAway: (random) => ({ do: 'moveAway', ...touched(random) }),
  moveBack: (random) => ({ do: 'moveBack', ...touched(random) }),
  updateMany: (random) => ({
    do: 'updateMany',
    kind: random.pick(HOUSE_KINDS),
    stamp: updatedStamp(random),
    n: random.below(100),
  }),
  transaction: (random, index) => ({
    do: 'transaction',
    kind: random.pick(HOUSE_KINDS),
    picks: [random.next(), random.next()],
    stamp: random.pick(['right', 'right', 'kept', 'server'] as const),
    content: someContent(random),
    id: `held-${index}`,
  }),
  addChannel: (random) => ({ do: 'addChannel', ...channelled(random) }),
  removeChannel: (random) => ({ do: 'removeChannel', ...channelled(random) }),
  insertDoubled: (random) => {
    const kind = random.pick(HOUSE_KINDS);
    return {
      do: 'insertDoubled',
      kind,
      id: someId(random, kind),
      ...made(random),
      inData: random.chance(0.5),
    };
  },
  insertLongChannel: (random) => ({ do: 'insertLongChannel', id: LONG_CHANNEL_ID, ...made(random) }),
  insertLongEmail: (random) => ({ do: 'insertLongEmail', id: someId(random, 'member'), ...made(random) }),
  upsertNumber: (random) => ({
    do: 'upsertNumber',
    kind: random.pick(HOUSE_KINDS),
    number: someNumber(random),
    stamp: updatedStamp(random),
    content: someContent(random),
  }),
  claim: (random) => ({
    do: 'claim',
    kind: random.pick(HOUSE_KINDS),
    number: someClaimed(random),
    claims: Array.from({ length: 1 + random.below(3) }, () => ({
      act: random.pick(['number', 'text', 'delete', 'retype'] as const),
      pick: random.next(),
    })),
    stamp: insertedStamp(random),
    content: someContent(random),
  }),
  ofDesign: (random) => ({ do: 'ofDesign', write: someDesignedWrite(random) }),
};

function made(random: Random): { stamp: Stamp; content: Content } {
  return { stamp: insertedStamp(random), content: someContent(random) };
}

function touched(random: Random): { kind: Kind; pick: number; stamp: Stamp } {
  return { kind: random.pick(HOUSE_KINDS), pick: random.next(), stamp: updatedStamp(random) };
}

function channelled(random: Random): { pick: number; channel: string; stamp: Stamp } {
  return { pick: random.next(), channel: random.pick(CHANNELS), stamp: updatedStamp(random) };
}
