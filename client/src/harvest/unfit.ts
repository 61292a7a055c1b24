import { createHash } from 'node:crypto';
import type { ToldChange } from './source.js';
import type { HeldStamp } from './store.js';
import type { CopyState } from './state.js';

/** A record that the store of a copy cannot hold, or cannot remove. */
export interface UnfitRecord {
  /** Its first 200 characters. */
  id: string;
  /** SHA-256 of the whole `id`, in hexadecimal digits. */
  key: string;
  lastupdated: string;
  /** What the store said. */
  reason: string;
  generation: number;
  /** The service holds it no more, and the store does not remove it. */
  isRemoval?: true;
}

interface WellFormed {
  isWellFormed(): boolean;
}

/** Where as many do not fit, the store is not made for these records: the harvest ends with what it said. */
export const MOST_UNFIT = 1000;

const LONGEST_ID = 200;
const LONGEST_REASON = 300;

/** UTF-8 has no half of a surrogate pair, so such an id is hashed with its escapes: two of them stay distinct. */
export function unfitKey(id: string): string {
  const text = isWellFormed(id) ? id : JSON.stringify(id);
  return createHash('sha256').update(text).digest('hex');
}

export function unfitRecord(
  { id, lastupdated }: HeldStamp,
  error: unknown,
  { generation, isRemoval }: { generation: number; isRemoval: boolean },
): UnfitRecord {
  const reason = (error instanceof Error ? error.message : String(error)).slice(0, LONGEST_REASON);
  const record = { id: id.slice(0, LONGEST_ID), key: unfitKey(id), lastupdated, reason, generation };
  return isRemoval ? { ...record, isRemoval } : record;
}

/** The state with notes of records that do not fit. What a page tells anew takes the place of what was noted. */
export function withUnfit(
  state: CopyState,
  told: Pick<ToldChange, 'id'>[],
  unfit: UnfitRecord[] = [],
): CopyState {
  const { unfit: noted = [], ...rest } = state;
  if (noted.length === 0 && unfit.length === 0) return rest;
  const anew = new Set(told.map(({ id }) => unfitKey(id)));
  const all = [...noted.filter(({ key }) => !anew.has(key)), ...unfit];
  return all.length === 0 ? rest : { ...rest, unfit: all };
}

/** The state after a new start: records that it did not return no longer exist, so their notes are dropped. */
export function withUnfitOf(state: CopyState): CopyState {
  const { unfit: noted = [], ...rest } = state;
  const all = noted.filter(({ generation }) => generation >= state.generation);
  return all.length === 0 ? rest : { ...rest, unfit: all };
}

/** Whether a text has no half of a surrogate pair. The types do not know this method of Node.js 20 yet. */
export function isWellFormed(text: string): boolean {
  return (text as unknown as WellFormed).isWellFormed();
}
