import type { ToldChange, ToldUpsert } from '../harvest/index.js';

/** What a page does to what is held. */
export interface PageEffect {
  upserts: ToldUpsert[];
  /** Held newer than told: they get the mark of the generation only. */
  marked: string[];
  removed: string[];
}

/** Applies an upsert that is not older than what is held, and a delete likewise. `held`: stamps by id. */
export function decide(changes: ToldChange[], held: ReadonlyMap<string, string>): PageEffect {
  const decided: PageEffect = { upserts: [], marked: [], removed: [] };
  for (const change of changes) {
    const stamp = held.get(change.id);
    const isOlder = stamp !== undefined && change.lastupdated < stamp;
    if (change.op === 'upsert' && !isOlder) decided.upserts.push(change);
    else if (change.op === 'upsert') decided.marked.push(change.id);
    else if (stamp !== undefined && !isOlder) decided.removed.push(change.id);
  }
  return decided;
}
