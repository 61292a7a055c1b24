import type { PartialIdentity } from '../../../src/replication/ledger/identity.js';
import type { LogPlace } from '../../../src/replication/progress/place.js';
import type { ModelSteps } from '../world/steps.js';
import type { ModelWorld } from '../world/world.js';
import type { ModelWatcher } from './watcher.js';

/** For a mutant: newer than anything. */
const NEWEST = 'Z';

/** Remembers what is known of a record that the ledger does not know, unless something newer is. */
export function* keepIncomplete({ world }: ModelWatcher, key: string, partial: PartialIdentity): ModelSteps {
  const isAgeless = world.has('incomplete identities without their place');
  const kept = { record: key, ...partial, ...(isAgeless && { learned: NEWEST }) };
  yield;
  world.database.write('remembers what is incomplete', (tx) => {
    const name = nameOf(world, key, partial.appid as string);
    const before = tx.state.incomplete.get(name);
    if ((before?.learned ?? '') <= (kept.learned ?? '')) tx.keepIncomplete(name, kept);
  });
}

/** Each application has a memory of its own: that of one loop is not for another one to overwrite or to forget. */
function nameOf({ profile }: ModelWorld, key: string, appid: string): string {
  return profile.lanes === undefined ? key : `${key} ${appid}`;
}

/** Forgets a record that is complete, or gone, unless it waits since this batch or something newer is known of it. */
export function* forgetComplete(
  watcher: ModelWatcher,
  key: string,
  at: LogPlace,
  waiting: ReadonlySet<string>,
): ModelSteps {
  yield;
  if (!waiting.has(key)) forget(watcher, key, at);
}

/** What a loop knows of a record in its own applications. */
export function forget(watcher: ModelWatcher, key: string, at: LogPlace): void {
  const { database, mutant } = watcher.world;
  database.write('forgets what is complete', (tx) => {
    for (const [name, { record, appid, learned = '' }] of tx.state.incomplete) {
      if (record !== key || !watcher.owns(appid as string)) continue;
      if (learned <= at || mutant === 'incomplete identities without their place') tx.forgetIncomplete(name);
    }
  });
}
