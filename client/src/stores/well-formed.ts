import type { ToldChange } from '../harvest/index.js';
import { isWellFormed } from '../harvest/unfit.js';

/**
 * Databases keep texts in UTF-8, which has no half of a surrogate pair: drivers write U+FFFD in its place, so that two ids become
 * one. Throws a RangeError for a change with such a half in its `id`, `type` or `createdBy`.
 */
export function assertWellFormed(changes: ToldChange[]): void {
  for (const change of changes) {
    assertWhole(change.id);
    if (change.op !== 'upsert') continue;
    assertWhole(change.type);
    if (change.createdBy !== undefined) assertWhole(change.createdBy);
  }
}

/** Answers the text. */
export function assertWhole(text: string): string {
  if (!isWellFormed(text)) throw new RangeError('a text has half of a surrogate pair');
  return text;
}
