import type { DeadIdentity, Holder, Holders, Identity, PartialIdentity } from './identity.js';
import type { Fences, KnownFences } from './marks.js';
import type { LogPlace } from './place.js';

/** An identity that a record owns, whether its `id` is stored as a number, where in the log that was learned, and whether by a look. */
export type Owning = Identity & { isNumber?: true; learned?: LogPlace; isLooked?: true };

/**
 * Which living identities each record owns, by the hex of its `_id`: the ledger as far as a batch concerns it, in the
 * order in which it was learned.
 */
export type Owned = Map<string, readonly Owning[]>;

/** What is known of records that are no identity yet, by the hex of their `_id`; `null` where that is over. */
export type Partials = Map<string, PartialIdentity | null>;

/** What a watcher knows before a batch, of what the batch concerns. The rules only read it. */
export interface Knowledge {
  owned: ReadonlyMap<string, readonly Owning[]>;
  partials: ReadonlyMap<string, PartialIdentity | null>;
  holders: ReadonlyMap<string, Holder>;
  fences: KnownFences;
  /** Whose the tombstones are that the batch tells of, by the hex of their `_id`. */
  tombstones: ReadonlyMap<string, DeadIdentity>;
}

/** What it knows behind the batch. */
export interface KnowledgeAfter {
  owned: Owned;
  partials: Partials;
  holders: Holders;
  /** The fences that the batch has passed; all others, thousands of them, are what they were. */
  passed: Fences;
}

/** The knowledge before any event of a batch: a copy as large as what the batch concerns, for the rules to change. */
export function begun({ owned, partials, holders }: Knowledge): KnowledgeAfter {
  return {
    owned: new Map(owned),
    partials: new Map(partials),
    holders: new Map(holders),
    passed: new Map(),
  };
}

/** Whether one identity of the record is known, and none as of a later place. */
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
