import type { PartialIdentity } from '../../../src/replication/protocol/identity.js';
import type { LogPlace } from '../../../src/replication/protocol/place.js';
import { isDelivered } from '../world/documents.js';
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

/** Forgets a record that is complete, or gone, unless it waits or something newer is known of it. */
export function* forgetComplete(
  watcher: ModelWatcher,
  key: string,
  at: LogPlace,
  waiting: ReadonlySet<string>,
): ModelSteps {
  yield;
  if (!waiting.has(key) && !isStillWaiting(watcher, key)) forget(watcher, key, at);
}

/**
 * A number that is there and that the ledger has not as an owner. A term that was given up takes it for learned all the same where
 * it has read the owners before a death and the holders behind it.
 */
function isStillWaiting({ world }: ModelWatcher, key: string): boolean {
  if (world.has('a number forgotten that waits still')) return false;
  const { now } = world.database;
  const record = now.records.get(key);
  return record !== undefined && !isDelivered(now, record);
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
