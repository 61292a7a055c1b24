import type { ModelConsumer } from '../consumer/consumer.js';
import { wantedIn } from '../service/wanted.js';
import { claimantsOf, entryOf, identityOf, isDelivered, type ModelRecord } from '../world/documents.js';
import { matches } from '../world/matching.js';
import type { ModelWorld } from '../world/world.js';

/** What is wrong at the end; nothing where every copy equals the source. */
export function judge(world: ModelWorld): string | undefined {
  for (const consumer of world.consumers) {
    const [held, wanted] = [heldBy(consumer), wantedBy(world, consumer)];
    if (held !== wanted) return `${consumer.name} holds ${held} instead of ${wanted}`;
  }
  return livingButDead(world);
}

function heldBy({ copy }: ModelConsumer): string {
  return shown([...copy.held].map(([id, { text }]) => ({ id, text })));
}

function wantedBy({ database }: ModelWorld, { service, appid }: ModelConsumer): string {
  const wanted = service === undefined ? undefined : wantedIn(database.now, service);
  const filter = wanted?.state === 'on' ? wanted.filter : {};
  const { now } = database;
  const isWanted = (record: ModelRecord) =>
    record.appid === appid && isDelivered(now, record) && matches(filter, record);
  return shown([...now.records.values()].filter(isWanted));
}

function shown(records: { id: string; text: number }[]): string {
  return `{${records
    .map(({ id, text }) => `${id} ${text}`)
    .sort()
    .join(', ')}}`;
}

/**
 * A record that came back under the same `id` is in no hard deletes (contract §1). Of several that claim one `id` the text is
 * delivered, and no number beside it; without a text one of the numbers is (contract §4).
 */
function livingButDead({ database: { now } }: ModelWorld): string | undefined {
  for (const { appid, id } of now.records.values()) {
    const claimants = claimantsOf(now, { appid, id });
    const delivered = claimants.filter((record) => isDelivered(now, record));
    if (delivered.length !== 1) return `${delivered.length} of ${claimants.length} as ${appid}/${id}`;
    if (entryOf(now, identityOf({ appid, id }))?.alive !== true)
      return `${appid}/${id} lives and stands in the hard deletes`;
  }
  return undefined;
}
