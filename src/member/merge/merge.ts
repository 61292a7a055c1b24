import { isDeletion } from '../dto/deletion.js';
import { isDocument } from '../document.js';
import { type Change, REMOVED } from './change.js';

/**
 * What has to change at a path so that a patch holds there: nothing where it holds already. In a patch null and ""
 * delete, and documents are merged; where no document is stored for one to merge with, it takes the place.
 */
export function merge(stored: unknown, patch: unknown, path: string[]): Change[] {
  if (isDeletion(patch)) return stored === undefined ? [] : [{ path, value: REMOVED }];
  if (isDocument(patch) && isDocument(stored)) {
    return [...patch].flatMap(([name, inner]) => merge(stored.get(name), inner, [...path, name]));
  }
  if (isSame(stored, patch)) return [];
  const value = withoutDeletions(patch);
  return value === undefined ? [] : [{ path, value }];
}

/** What a patch stores where nothing is stored yet; nothing where all it does is delete. */
export function withoutDeletions(patch: unknown): unknown {
  if (isDeletion(patch)) return undefined;
  if (!isDocument(patch)) return patch;
  const kept = [...patch]
    .map(([name, inner]) => [name, withoutDeletions(inner)] as const)
    .filter(([, inner]) => inner !== undefined);
  return kept.length === 0 && patch.size > 0 ? undefined : new Map(kept);
}

/** Stored numbers are objects of the driver's classes; 5 is 5 in each. */
function isSame(stored: unknown, patch: unknown): boolean {
  if (Array.isArray(patch)) {
    return (
      Array.isArray(stored) &&
      stored.length === patch.length &&
      patch.every((value, index) => value === stored[index])
    );
  }
  if (typeof patch === 'number') return isNumber(stored) && Number(String(stored)) === patch;
  return stored === patch;
}

function isNumber(stored: unknown): boolean {
  const type = (stored as { _bsontype?: unknown } | null | undefined)?._bsontype;
  return type === 'Int32' || type === 'Double' || type === 'Long' || type === 'Decimal128';
}
