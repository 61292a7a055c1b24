import type { Connection } from 'mongoose';
import { APPLICATIONS } from '../../../application/index.js';
import { COLLECTION_OF, KINDS, type Tenant } from '../../../record/index.js';
import { STRETCH_MS } from '../../walk/index.js';

/** A collection with fewer records than these is passed over in seconds. */
const SMALLEST_COLLECTION = 20_000;
/** How many records tell which applications are large. */
const SAMPLE = 1000;
/** One with fewer of them is not large. */
const FEWEST = 20;
/** A longer name would make the lease large: its application is passed over with all others. */
const LONGEST_NAME = 256;

/** A large application, and about how many records of one kind it has. */
interface Large extends Tenant {
  records: number;
}

/**
 * The applications that have at least a fiftieth of the records of a collection that is not small, the smallest first: at most fifty for each
 * kind, by a sample. Nothing depends on the choice but who waits for whom. None where no other application is registered.
 */
export async function largeApplications(connection: Connection): Promise<Tenant[]> {
  const sampled = await Promise.all(
    KINDS.map((kind) => inSample(connection, COLLECTION_OF[kind]).catch(() => [])),
  );
  const sizes = new Map<string, Large>();
  for (const one of sampled.flat()) {
    const name = JSON.stringify([one.organizationid, one.appid]);
    sizes.set(name, { ...one, records: one.records + (sizes.get(name)?.records ?? 0) });
  }
  const sorted = [...sizes.values()].sort((one, other) => one.records - other.records);
  const large = sorted.map(({ organizationid, appid }) => ({ organizationid, appid }));
  const [only, another] = large;
  return only === undefined || (another === undefined && !(await hasOthers(connection, only))) ? [] : large;
}

async function hasOthers(connection: Connection, { organizationid, appid }: Tenant): Promise<boolean> {
  const others = { $nor: [{ organizationid, appid }] };
  return (await connection.collection(APPLICATIONS).countDocuments(others, { limit: 1 })) > 0;
}

async function inSample(connection: Connection, name: string): Promise<Large[]> {
  const collection = connection.collection(name);
  const total = await collection.estimatedDocumentCount();
  if (total < SMALLEST_COLLECTION) return [];
  const found = await collection
    .aggregate<{ _id: { organizationid: unknown; appid: unknown }; count: number }>(
      [
        { $sample: { size: SAMPLE } },
        { $group: { _id: { organizationid: '$organizationid', appid: '$appid' }, count: { $sum: 1 } } },
        { $match: { count: { $gte: FEWEST } } },
      ],
      { maxTimeMS: STRETCH_MS },
    )
    .toArray();
  return found.flatMap(({ _id: { organizationid, appid }, count }) =>
    isName(organizationid) && isName(appid)
      ? [{ organizationid, appid, records: (total * count) / SAMPLE }]
      : [],
  );
}

function isName(text: unknown): text is string {
  return typeof text === 'string' && text.length <= LONGEST_NAME;
}
