const MIX = 0x6d2b79f5;
/** Looked up once: Jest makes every look at a global slow. */
const { floor, imul } = Math;

/** Names and how often each comes up against the others. */
export type Weights<T extends string> = Partial<Record<T, number>>;

/**
 * What decides within one turn of a schedule (mulberry32). Each turn has a number of its own, so that a turn taken out
 * of a schedule leaves the others as they were.
 */
export class Dice {
  constructor(private state: number) {}

  /** At least 0, below 1. */
  next(): number {
    this.state = (this.state + MIX) | 0;
    let mixed = imul(this.state ^ (this.state >>> 15), 1 | this.state);
    mixed = (mixed + imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** A whole number, at least 0, below the limit. */
  below(limit: number): number {
    return floor(this.next() * limit);
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  pick<T>(list: readonly T[]): T {
    if (list.length === 0) throw new Error('Nothing to pick from');
    return list[this.below(list.length)] as T;
  }

  weighted<T extends string>(weights: Weights<T>): T {
    const names = Object.keys(weights) as T[];
    let left = this.next() * names.reduce((sum, name) => sum + (weights[name] ?? 0), 0);
    for (const name of names) {
      left -= weights[name] ?? 0;
      if (left < 0) return name;
    }
    throw new Error('No name has any weight');
  }
}

/** Dice for the time when all is well: nothing that has a chance of going wrong does, and all batches are full. */
export class CalmDice extends Dice {
  constructor() {
    super(0);
  }

  override next(): number {
    return 0.999;
  }
}

/** The turns of the schedule of a seed. */
export function turnsOf(seed: number, count: number): number[] {
  const dice = new Dice(seed);
  return Array.from({ length: count }, () => dice.below(2 ** 32));
}
