import { type Heads, markName } from '../../../src/replication/protocol/marks.js';
import { markOf } from '../service/progress.js';
import { APPLICATIONS } from '../world/documents.js';
import type { ModelSteps } from '../world/steps.js';
import type { ModelWatcher } from './watcher.js';

/** What became of the heads: written, so that the token may follow; failed; or the term is over. */
export type HeadOutcome = 'written' | 'failed' | 'over';

/**
 * The greatest stamps that a batch tells of, written after the effects and before the token. One that the term has written
 * already, and that lies above the fence, tells all there is to tell.
 */
export function* publishHeads(watcher: ModelWatcher, heads: Heads): ModelSteps<HeadOutcome> {
  for (const appid of APPLICATIONS) {
    const outcome = yield* publishHead(watcher, appid, heads.get(markName(markOf(appid)))?.stamp);
    if (outcome !== 'written') return outcome;
  }
  return 'written';
}

function* publishHead(
  watcher: ModelWatcher,
  appid: string,
  greatest: Date | undefined,
): ModelSteps<HeadOutcome> {
  const { world, own } = watcher;
  const { database } = world;
  if (greatest === undefined || !watcher.isRaised(appid) || !watcher.isNews(appid, greatest))
    return 'written';
  if (watcher.appid !== undefined && world.has('no heads by the lane')) return 'written';
  yield;
  if (database.now.lease.term !== own.term) return 'over';
  if (world.dice.chance(world.profile.headFails ?? 0))
    return world.has('a head that cannot be written') ? 'written' : 'failed';
  database.write('publishes the head', (tx) => {
    const head = tx.state.heads.get(appid);
    if (head === undefined || greatest > head) tx.writeHead(appid, greatest);
  });
  watcher.headsWritten.set(appid, greatest);
  return 'written';
}
