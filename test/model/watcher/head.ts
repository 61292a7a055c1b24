import type { WatchedEvent } from '../../../src/replication/log/watched-event.js';
import { isAhead } from '../../../src/replication/watcher/rules/decide.js';
import type { ModelSteps } from '../world/steps.js';
import type { ModelWatcher } from './watcher.js';

/** What became of the head: written, so that the token may follow; failed; or the term is over. */
export type HeadOutcome = 'written' | 'failed' | 'over';

/**
 * The greatest stamp that a batch tells of: of every tombstone and every record, but for stamps ahead of the clock, which
 * rule 1 replaces: of the new ones the stream will tell. Written after the effects, before the token, on condition of the term.
 */
export function* publishHead(watcher: ModelWatcher, events: WatchedEvent[]): ModelSteps<HeadOutcome> {
  const { world, own } = watcher;
  const { database } = world;
  if (!watcher.isRaised()) return 'written';
  const greatest = greatestOf(events);
  if (greatest === undefined) return 'written';
  yield;
  if (database.now.lease.term !== own.term) return 'over';
  if (world.dice.chance(world.profile.headFails ?? 0))
    return world.has('a head that cannot be written') ? 'written' : 'failed';
  database.write('publishes the head', (tx) => {
    const { head } = tx.state;
    if (head === undefined || greatest > head || world.has('a head that goes back')) tx.writeHead(greatest);
  });
  return 'written';
}

function greatestOf(events: WatchedEvent[]): Date | undefined {
  const stamps = events.flatMap((event) => {
    if (event.type === 'tombstone') return event.stamp ?? [];
    if (event.type !== 'written' || !event.stamp || isAhead(event.stamp, event.at)) return [];
    return event.stamp;
  });
  return stamps.reduce<Date | undefined>((head, one) => (head && head > one ? head : one), undefined);
}
