import type { LedgerChange, LedgerEntry } from '../../../src/replication/ledger/index.js';

/** What the ledger holds of one identity. */
export type Known = Pick<LedgerEntry, 'alive' | 'owner' | 'lastupdated' | 'learned'>;

/**
 * What the ledger holds of an identity after a change, as the writes of `changes.ts` bring it about in MongoDB: older
 * knowledge never overwrites newer, and an identity never seen has no death of its own unless it was short-lived.
 */
export function entryAfter(entry: Known | undefined, change: LedgerChange, clock: Date): Known | undefined {
  const { at } = change;
  if (change.alive)
    return overwrites(entry, change) ? { alive: true, owner: change.owner, learned: at } : entry;
  const dead = { alive: false, lastupdated: clock, learned: at };
  if (entry === undefined) return change.shortLived ? dead : undefined;
  return overwrites(entry, change) ? dead : entry;
}

/** Whether a life brings an identity back that the ledger holds for dead (rule 4). */
export function isRebirth(entry: Known | undefined, change: LedgerChange): entry is Known {
  return change.alive && entry?.alive === false && overwrites(entry, change);
}

function overwrites(entry: Known | undefined, change: LedgerChange): boolean {
  if (entry === undefined) return true;
  const age = entry.learned.compare(change.at);
  if (change.alive) return age <= 0;
  if (!change.shortLived) return entry.alive && age <= 0;
  return age < 0 || (age === 0 && entry.alive);
}
