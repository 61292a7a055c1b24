import type { LedgerChange, LedgerEntry } from '../../../src/replication/ledger/index.js';

import { nextStamp } from './stamp.js';

/** What the ledger holds of one identity. */
export type KnownEntry = Pick<LedgerEntry, 'alive' | 'owner' | 'lastupdated' | 'learned'>;

/**
 * What the ledger holds of an identity after a change, as the writes of `changes.ts` bring it about in MongoDB: older
 * knowledge never overwrites newer, and an identity never seen has no death of its own unless it was short-lived.
 */
export function entryAfter(
  entry: KnownEntry | undefined,
  change: LedgerChange,
  clock: Date,
): KnownEntry | undefined {
  const { at } = change;
  if (change.alive)
    return overwrites(entry, change) ? { alive: true, owner: change.owner, learned: at } : entry;
  const dead = { alive: false, lastupdated: nextStamp(entry?.lastupdated, clock), learned: at };
  if (entry === undefined) return change.shortLived ? dead : undefined;
  return overwrites(entry, change) ? dead : entry;
}

/** Whether a life brings an identity back that the ledger holds for dead (rule 4). */
export function isResurrection(entry: KnownEntry | undefined, change: LedgerChange): entry is KnownEntry {
  return change.alive && entry?.alive === false && overwrites(entry, change);
}

function overwrites(entry: KnownEntry | undefined, change: LedgerChange): boolean {
  if (entry === undefined) return true;
  const { learned } = entry;
  if (change.alive) return learned <= change.at;
  if (!change.shortLived) return entry.alive && learned <= change.at;
  return learned < change.at || (learned === change.at && entry.alive);
}
