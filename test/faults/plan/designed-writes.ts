import { CREATED_KINDS, DESIGNED_KINDS, type DesignedKind } from './created-kinds.js';
import { type Content, someContent, someId, someNumber } from './keys.js';
import type { Random } from './random.js';
import { insertedStamp, type Stamp, updatedStamp } from './stamps.js';

/**
 * A write to a collection that another program has designed. `pick`, from 0 to 1, says which of its records is meant, by its
 * place in `_id` order. An `id` that is absent is left out of the record.
 */
export type DesignedWrite = { kind: DesignedKind } & (
  | { to: 'insert'; id?: string | number; stamp: Stamp; content: Content }
  | { to: 'oneField'; pick: number; field: DesignedField; stamp: Stamp; content: Content }
  | { to: 'another'; pick: number; stamp: Stamp; content: Content }
  | { to: 'anotherId'; pick: number; id: string; stamp: Stamp }
  | { to: 'swapped'; picks: [number, number] }
  | { to: 'noId'; pick: number }
  | { to: 'again'; pick: number; stamp: Stamp; content: Content }
  | { to: 'elsewhere' | 'back'; pick: number; stamp: Stamp }
  | { to: 'nothing'; pick: number }
  | { to: 'many'; least: number; most: number; stamp: Stamp; content: Content }
  | { to: 'manyNew'; count: number; stamp: Stamp; content: Content }
  | { to: 'noneOfMany'; least: number; most: number }
);

/** What is written of a record: a field below another one, a list that grows or shrinks, a field that comes or goes. */
const FIELDS = ['amount', 'longer', 'shorter', 'note', 'noNote', 'stray'] as const;

export type DesignedField = (typeof FIELDS)[number];

const WEIGHTS: Record<DesignedWrite['to'], number> = {
  insert: 8,
  oneField: 8,
  another: 3,
  anotherId: 3,
  swapped: 1,
  noId: 1,
  again: 2,
  elsewhere: 2,
  back: 2,
  nothing: 4,
  many: 1,
  manyNew: 1,
  noneOfMany: 1,
};

const MOST_NEW = 30;

export function someDesignedWrite(random: Random): DesignedWrite {
  const kind = random.pick(DESIGNED_KINDS);
  return { kind, ...someWrite(random, kind) } as DesignedWrite;
}

function someWrite(random: Random, kind: DesignedKind) {
  const pick = random.next();
  const to = random.weighted(WEIGHTS);
  switch (to) {
    case 'insert':
      return { to, ...someKey(random, kind), ...made(random) };
    case 'oneField':
      return { to, pick, field: random.pick(FIELDS), ...changed(random) };
    case 'another':
      return { to, pick, ...made(random) };
    case 'anotherId':
      return { to, pick, id: someId(random, kind), stamp: updatedStamp(random) };
    case 'swapped':
      return { to, picks: [pick, random.next()] };
    case 'again':
      return { to, pick, ...made(random) };
    case 'elsewhere':
    case 'back':
      return { to, pick, stamp: updatedStamp(random) };
    case 'many':
      return { to, ...someValues(random), ...changed(random) };
    case 'manyNew':
      return { to, count: 1 + random.below(MOST_NEW), ...made(random) };
    case 'noneOfMany':
      return { to, ...someValues(random) };
    case 'noId':
    case 'nothing':
      return { to, pick };
  }
}

/** Most are texts; now and then one is a number, or missing. */
function someKey(random: Random, kind: DesignedKind): { id?: string | number } {
  if (random.chance(0.1)) return {};
  return { id: random.chance(0.1) ? someNumber(random) : someId(random, kind) };
}

function someValues(random: Random): { least: number; most: number } {
  const least = random.below(100);
  return { least, most: least + random.below(30) };
}

function made(random: Random): { stamp: Stamp; content: Content } {
  return { stamp: insertedStamp(random), content: someContent(random) };
}

function changed(random: Random): { stamp: Stamp; content: Content } {
  return { stamp: updatedStamp(random), content: someContent(random) };
}

/** The stored names of the `id` and the stamp. */
export function namesOf(kind: DesignedKind): { id: string; lastupdated: string } {
  const { id, lastupdated } = CREATED_KINDS[kind];
  return { id, lastupdated };
}
