import { BUILT_IN_KINDS } from '../../../src/kinds/index.js';
import { allIds, FOLLOWED_CHANNEL, insertedStamp, Random, someContent } from '../plan/index.js';
import type { World } from '../world/index.js';
import { newRecord } from './new-record.js';

const SHARE = 0.6;

/** What stands there before the service first starts: more than half of the key space, with stamps of all sorts. */
export async function stock({ source }: World, seed: number): Promise<void> {
  const random = Random.for(seed, 'stock');
  for (const kind of BUILT_IN_KINDS) {
    const records = allIds(kind)
      .filter(() => random.chance(SHARE))
      .map((id) => {
        const content = { ...someContent(random), channels: [FOLLOWED_CHANNEL] };
        return newRecord(source.tenant, { kind, id, stamp: insertedStamp(random), content });
      });
    await source.records(kind).insertMany(records);
  }
}
