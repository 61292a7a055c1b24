import type { Heads } from '../../../src/replication/mark/head.js';
import type { ModelSteps } from '../world/steps.js';
import type { ModelWatcher } from './watcher.js';

/** What became of the head: written, so that the token may follow; failed; or the term is over. */
export type HeadOutcome = 'written' | 'failed' | 'over';

/**
 * The greatest stamp that a batch tells of, written after the effects and before the token. One that the term has written
 * already, and that lies above the fence, tells all there is to tell.
 */
export function* publishHead(watcher: ModelWatcher, heads: Heads): ModelSteps<HeadOutcome> {
  const { world, own } = watcher;
  const { database } = world;
  const greatest = watcher.isRaised() ? heads.get(watcher.mark)?.stamp : undefined;
  if (greatest === undefined || !watcher.isNews(greatest)) return 'written';
  yield;
  if (database.now.lease.term !== own.term) return 'over';
  if (world.dice.chance(world.profile.headFails ?? 0))
    return world.has('a head that cannot be written') ? 'written' : 'failed';
  database.write('publishes the head', (tx) => {
    const { head } = tx.state;
    if (head === undefined || greatest > head) tx.writeHead(greatest);
  });
  watcher.headWritten = greatest;
  return 'written';
}
