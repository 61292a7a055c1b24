import type { WatchedEvent } from '../../../src/replication/protocol/events.js';
import { type Heads, noteHead } from '../../../src/replication/protocol/marks.js';
import { RefusedEntry } from '../world/refusals.js';
import type { ModelSteps } from '../world/steps.js';
import { applyEffects } from './effects.js';
import { setAsideEvents, withoutFollowing } from './quarantine.js';
import type { ModelWatcher } from './watcher.js';

/**
 * Works through a batch so that no event can stop the stream: one that the ledger refuses is found by halves and set aside.
 * Gives the heads that are still to be written.
 */
export function* workThrough(watcher: ModelWatcher, events: WatchedEvent[]): ModelSteps<Heads> {
  const left = yield* withoutFollowing(watcher.world, events);
  const fences = new Map(watcher.fences);
  try {
    return yield* applyEffects(watcher, left);
  } catch (error) {
    if (!(error instanceof RefusedEntry)) throw error;
    watcher.fences = fences;
  }
  if (left.length === 1) {
    const isOfMain = watcher.appid === undefined || !watcher.world.has('quarantine by main alone');
    if (isOfMain) yield* setAsideEvents(watcher.world, left);
    return new Map();
  }
  const half = Math.ceil(left.length / 2);
  const heads = yield* workThrough(watcher, left.slice(0, half));
  for (const head of (yield* workThrough(watcher, left.slice(half))).values()) noteHead(heads, head);
  return heads;
}
