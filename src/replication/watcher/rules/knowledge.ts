import type { Holders, Identity, PartialIdentity } from '../../ledger/pure.js';
import type { Fences } from '../../mark/pure.js';
import type { LogPlace } from '../../progress/index.js';

/** An identity that a record owns, whether its `id` is stored as a number, and where in the log that was learned. */
export type Owning = Identity & { isNumber?: true; learned?: LogPlace };

/**
 * Which living identities each record owns, by the hex of its `_id`: the ledger as far as a batch concerns it, in the
 * order in which it was learned.
 */
export type Owned = Map<string, Owning[]>;

/** What is known of records that are no identity yet, by the hex of their `_id`; `null` where that is over. */
export type Partials = Map<string, PartialIdentity | null>;

/** What a watcher knows before a batch, of what the batch concerns. The rules bring all of it up to date. */
export interface Knowledge {
  owned: Owned;
  partials: Partials;
  holders: Holders;
  fences: Fences;
  /** Whose the tombstones are that the batch tells of, by the hex of their `_id`. */
  tombstones: Map<string, Identity>;
}
