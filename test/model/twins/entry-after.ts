import type { LedgerChange, Life } from '../../../src/replication/protocol/index.js';
import type { LedgerEntry } from '../../../src/replication/store/index.js';
import { nextStamp } from './stamp.js';

/** What the ledger holds of one identity. */
export type KnownEntry = Pick<
  LedgerEntry,
  'alive' | 'owner' | 'isNumber' | 'number' | 'lastupdated' | 'learned'
>;

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
  if (change.alive) {
    if (!overwrites(entry, change) || (entry?.alive && !mayTake(entry, change))) return entry;
    return lifeAfter(entry, change);
  }
  const number = entry?.isNumber ? entry.owner : entry?.number;
  const stamp = nextStamp(entry?.lastupdated, clock);
  const dead = { alive: false, lastupdated: stamp, learned: at, ...(number && { number }) };
  if (entry === undefined) return change.shortLived ? dead : undefined;
  return overwrites(entry, change) ? dead : entry;
}

/** The number that ended there last is remembered as long as no number lives there. */
export function lifeAfter(entry: KnownEntry | undefined, { owner, at, isNumber }: Life): KnownEntry {
  if (isNumber) return { alive: true, owner, learned: at, isNumber };
  return { alive: true, owner, learned: at, ...(entry?.number && { number: entry.number }) };
}

/** A text takes the entry of another text; nothing else takes one that lives. */
function mayTake(entry: KnownEntry, { owner, isNumber, wasText }: Life): boolean {
  if (String(entry.owner) === String(owner)) return true;
  return !entry.isNumber && (!isNumber || wasText === true);
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
