import type { ToldChange } from './source.js';

/** The newest change of each id: a page that had to be read from a later moment may tell of one twice. */
export function oncePerId(changes: ToldChange[]): ToldChange[] {
  const newest = new Map<string, ToldChange>();
  for (const change of changes) {
    const known = newest.get(change.id);
    if (known === undefined || change.lastupdated >= known.lastupdated) newest.set(change.id, change);
  }
  return newest.size === changes.length ? changes : [...newest.values()];
}
