import type { PartialIdentity } from '../../../src/replication/ledger/identity.js';
import type { LogPlace } from '../../../src/replication/progress/place.js';
import type { ModelSteps } from '../world/steps.js';
import type { ModelWatcher } from './watcher.js';

/** For a mutant: newer than anything. */
const NEWEST = 'Z';

/** Remembers what is known of a record that the ledger does not know, unless something newer is. */
export function* keepIncomplete({ world }: ModelWatcher, key: string, partial: PartialIdentity): ModelSteps {
  const isAgeless = world.has('incomplete identities without their place');
  const kept = isAgeless ? { ...partial, learned: NEWEST } : partial;
  yield;
  world.database.write('remembers what is incomplete', (tx) => {
    const before = tx.state.incomplete.get(key);
    if ((before?.learned ?? '') <= (kept.learned ?? '')) tx.keepIncomplete(key, kept);
  });
}

/** Forgets a record that is complete, or gone, unless it waits since this batch or something newer is known of it. */
export function* forgetComplete(
  { world }: ModelWatcher,
  key: string,
  at: LogPlace,
  waiting: ReadonlySet<string>,
): ModelSteps {
  yield;
  if (!waiting.has(key)) forget(world, key, at);
}

export function forget({ database, mutant }: ModelWatcher['world'], key: string, at: LogPlace): void {
  database.write('forgets what is complete', (tx) => {
    const { learned = '' } = tx.state.incomplete.get(key) ?? {};
    if (learned <= at || mutant === 'incomplete identities without their place') tx.forgetIncomplete(key);
  });
}
