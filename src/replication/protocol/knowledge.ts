import type { DeadIdentity, Holder, Holders, Identity, PartialIdentity } from './identity.js';
import type { Fences, KnownFences } from './marks.js';
import type { LogPlace } from './place.js';

/**
 * An identity that a record owns: whether its `id` is stored as a number, the place in the log at which it was learned, and
 * whether a read found it.
 */
export type Owning = Identity & { isNumber?: true; learned?: LogPlace; isLooked?: true };

/**
 * The living identities that each record owns, by the hex of its `_id`: the part of the ledger that concerns a batch, in the
 * order in which it was learned.
 */
export type Owned = Map<string, readonly Owning[]>;

/** What is known of records that own no identity yet, by the hex of their `_id`; `null` once that has ended. */
export type Partials = Map<string, PartialIdentity | null>;

/** What a watcher knows before a batch, as far as it concerns the batch. The rules only read it. */
export interface Knowledge {
  owned: ReadonlyMap<string, readonly Owning[]>;
  partials: ReadonlyMap<string, PartialIdentity | null>;
  holders: ReadonlyMap<string, Holder>;
  fences: KnownFences;
  /** The identities of the tombstones in the batch, by the hex of the tombstone's `_id`. */
  tombstones: ReadonlyMap<string, DeadIdentity>;
}

/** What the watcher knows after the batch. */
export interface KnowledgeAfter {
  owned: Owned;
  partials: Partials;
  holders: Holders;
  /** The fences that the batch has passed. All others, thousands of them, are unchanged. */
  passed: Fences;
}

/** A copy of the knowledge before a batch, for the rules to change. It holds only what concerns the batch. */
export function begun({ owned, partials, holders }: Knowledge): KnowledgeAfter {
  return {
    owned: new Map(owned),
    partials: new Map(partials),
    holders: new Map(holders),
    passed: new Map(),
  };
}

/**
 * Whether an incomplete identity or exactly one owned identity of the record is known, and none was learned at a later
 * place.
 */
export function isKnownBefore(
  at: LogPlace,
  key: string,
  { owned, partials }: Pick<Knowledge, 'owned' | 'partials'>,
): boolean {
  const entries = owned.get(key) ?? [];
  const partial = partials.get(key) ?? undefined;
  const isAhead = [...entries, ...(partial ? [partial] : [])].some(({ learned = '' }) => learned > at);
  return !isAhead && (partial !== undefined || entries.length === 1);
}
