import {
  allIds,
  DESIGNED_KINDS,
  FOLLOWED_CHANNEL,
  HOUSE_KINDS,
  insertedStamp,
  LATE_KIND,
  Random,
  someContent,
} from '../plan/index.js';
import type { World } from '../world/index.js';
import { designedRecord } from './designed-records.js';
import { newRecord } from './new-record.js';

const SHARE = 0.6;
/** So many that a pass over them takes a while. */
const LATE_RECORDS = 2500;

/** What stands there before the service first starts: more than half of the key space, with stamps of all sorts. */
export async function stock({ source }: World, seed: number): Promise<void> {
  const random = Random.for(seed, 'stock');
  for (const kind of HOUSE_KINDS) {
    const records = allIds(kind)
      .filter(() => random.chance(SHARE))
      .map((id) => {
        const content = { ...someContent(random), channels: [FOLLOWED_CHANNEL] };
        return newRecord(source.tenant, { kind, id, stamp: insertedStamp(random), content });
      });
    await source.records(kind).insertMany(records);
  }
  for (const kind of DESIGNED_KINDS) {
    const further = Array.from(
      { length: kind === LATE_KIND ? LATE_RECORDS : 0 },
      (_, n) => `${kind}-old-${n}`,
    );
    const records = [...allIds(kind).filter(() => random.chance(SHARE)), ...further].map((id) =>
      designedRecord(source, kind, { id, stamp: insertedStamp(random), content: someContent(random) }),
    );
    await source.records(kind).insertMany(records);
  }
}
