import { FIRST_ID, type Kind, KINDS } from '../../record/index.js';
import { StrangersCount } from './strangers.js';

const MOST_REMEMBERED = 10_000;

/** What one term knows of the records that are ignored, and how far it has looked for them. */
export class IgnoredCounts {
  readonly strangers = { member: new StrangersCount(), product: new StrangersCount() };
  /** Unknown until they are counted for the first time. */
  readonly rivals: Partial<Record<Kind, number>> = {};
  readonly homeless: Record<Kind, Set<string>> = { member: new Set(), product: new Set() };
  /** What is being looked through, and behind which record. */
  kind: Kind = KINDS[0]!;
  behind = FIRST_ID;
  private found = new Set<string>();
  /** While a slice is being read, those that are right or gone: it may have read them before. */
  private rightMeanwhile: Set<string> | undefined;
  private turns = 0;
  private readonly counted: Partial<Record<Kind, number>> = {};

  remember(kind: Kind, key: string): void {
    for (const set of [this.homeless[kind], ...(kind === this.kind ? [this.found] : [])])
      if (set.size < MOST_REMEMBERED) set.add(key);
  }

  forget(kind: Kind, key: string): void {
    this.homeless[kind].delete(key);
    if (kind !== this.kind) return;
    this.found.delete(key);
    this.rightMeanwhile?.add(key);
  }

  /** Remembers those that a slice has found, unless it is known by then that they are right or gone. */
  async rememberThose(kind: Kind, read: () => Promise<string[]>): Promise<void> {
    const right = (this.rightMeanwhile = new Set());
    const found = await read().finally(() => (this.rightMeanwhile = undefined));
    for (const key of found) if (!right.has(key)) this.remember(kind, key);
  }

  /** The kind was looked through: what was not found is not there any more. The next one follows. */
  endRound(): void {
    this.homeless[this.kind] = this.found;
    this.kind = KINDS[(KINDS.indexOf(this.kind) + 1) % KINDS.length]!;
    this.behind = FIRST_ID;
    this.found = new Set();
  }

  /** Of two counts at the same time the one that began later is right. */
  async countRivals(kind: Kind, count: () => Promise<number>): Promise<void> {
    const turn = ++this.turns;
    const rivals = await count();
    if (turn > (this.counted[kind] ?? 0)) [this.rivals[kind], this.counted[kind]] = [rivals, turn];
  }

  total(kind: Kind): number {
    return this.strangers[kind].count + this.homeless[kind].size + (this.rivals[kind] ?? 0);
  }
}
