import type { JsonSchema } from '../schema.js';
import type { ToldChange, ToldUpsert } from './source.js';
import type { CopyState } from './state.js';

/** What the proof of a copy needs of a record that is held. */
export interface HeldStamp {
  id: string;
  lastupdated: string;
}

/** A record in the copy, and the generation that wrote it last. */
export interface HeldRecord extends HeldStamp {
  generation: number;
}

/** A page, and the state of the copy after it. */
export interface AppliedPage {
  changes: ToldChange[];
  state: CopyState;
}

/** What shall be held, or not held, whatever is held now. */
export interface Mended {
  upserts: ToldUpsert[];
  removed: string[];
  state: CopyState;
}

/**
 * Where a copy is kept. One harvest writes at a time: a store throws {@link CopyTakenError} where it finds that somebody
 * else has written since.
 */
export interface CopyStore {
  /** Undefined before the first harvest. */
  state(): Promise<CopyState | undefined>;
  /** The newest generation among the records; undefined without records. */
  newestGeneration(): Promise<number | undefined>;
  /**
   * Applies a page and stores the state, both or neither. An upsert is applied where it is not older than what is held,
   * and marks what is held with the generation in any case; a delete where it is not older.
   */
  apply(page: AppliedPage): Promise<void>;
  /**
   * Removes the records of other generations than the state's, then stores the state. May be interrupted and repeated. Answers
   * how many it has removed.
   */
  sweep(state: CopyState): Promise<number>;
  /** Whether a record with this `id` is held. Throws what {@link isUnfit} answers for where no record of the copy can have it. */
  has(id: string): Promise<boolean>;
  /** All that is held, a batch at a time. */
  held(): AsyncIterable<HeldRecord[]>;
  /**
   * Whether a write failed for a record in it, while the store would take others: a record that is too large, or holds what
   * the store has no place for. Not where the store is away, full, or taken.
   */
  isUnfit(error: unknown): boolean;
  /**
   * Adds a column for each field of the schema that has none, with the values of the records that are held. Absent where a copy
   * has no columns.
   */
  addColumns?(schema: JsonSchema): Promise<void>;
  /** Writes and removes without looking at stamps, all of it or nothing. */
  mend(mended: Mended): Promise<void>;
  close(): Promise<void>;
}

/** Two harvests write to one copy. */
export class CopyTakenError extends Error {
  override readonly name = 'CopyTakenError';

  constructor(where: string) {
    super(`Another harvest writes to ${where} as well. Let one run at a time; what was written is whole.`);
  }
}
