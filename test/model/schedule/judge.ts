import { wantedOf } from '../../../src/replication/filters/filter-version.js';
import type { ModelConsumer } from '../consumer/consumer.js';
import { APPLICATION, recordUnder, type ModelRecord } from '../world/documents.js';
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

function wantedBy({ database }: ModelWorld, { service }: ModelConsumer): string {
  const wanted = service === undefined ? undefined : wantedOf(database.now.services.get(service));
  const filter = wanted?.state === 'on' ? wanted.filter : {};
  const isWanted = (record: ModelRecord) => record.appid === APPLICATION && matches(filter, record);
  return shown([...database.now.records.values()].filter(isWanted));
}

function shown(records: { id: string; text: number }[]): string {
  return `{${records
    .map(({ id, text }) => `${id} ${text}`)
    .sort()
    .join(', ')}}`;
}

/** A record that came back under the same `id` is in no hard deletes (contract §1). */
function livingButDead({ database }: ModelWorld): string | undefined {
  for (const { alive, identity } of database.now.ledger.values()) {
    const lives = recordUnder(database.now, identity) !== undefined;
    if (!alive && lives) return `${identity.appid}/${identity.id} lives and stands in the hard deletes`;
  }
  return undefined;
}
