import type { mongo } from 'mongoose';
import { type Filter, indexAdvice, type IndexKey } from '../application/plain.js';
import { FatalError } from '../common/index.js';
import { buildIndex, type Watching } from '../database/plain.js';
import { COLLECTION_OF, type Kind, type Tenant } from '../record/index.js';
import { type Desk, noteDeed } from './desk.js';
import { refusalOf } from './filter-trial.js';
import { Allowance } from './preview/allowance.js';
import { inPlace } from './preview/place.js';
import { type FilterPlan, planOf, standingIndex } from './preview/plan.js';

const PLAN_MS = 30_000;
/** What MongoDB says of an index that differs from the one that is to be made in its options. */
const IN_THE_WAY = new Set([85, 86]);

/** The index that a filter would have. */
export interface IndexWish {
  name: string;
  collection: string;
  key: IndexKey;
  /** It stands already, or is being made. */
  stands: boolean;
  /** Queries are kept from it. */
  isHidden: boolean;
  /** The number of records that it covers: all of the kind, of all applications. */
  records: number;
}

/** How the records that a filter matches are found. Throws 400 where MongoDB refuses it. */
export async function filterPlan(
  db: mongo.Db,
  of: Tenant & { kind: Kind },
  filter: Filter,
): Promise<FilterPlan | undefined> {
  try {
    return await inPlace(db, of, undefined, (place) => planOf(place, filter, new Allowance(PLAN_MS)));
  } catch (error) {
    throw (await refusalOf(db, of, filter, error)) ?? error;
  }
}

/** The index that would serve a filter; undefined where none would. */
export async function indexWish(db: mongo.Db, kind: Kind, filter: Filter): Promise<IndexWish | undefined> {
  const key = indexAdvice(filter);
  if (key === undefined) return undefined;
  const collection = db.collection(COLLECTION_OF[kind]);
  const standing = await standingIndex(collection, key);
  return {
    ...{ key, collection: collection.collectionName },
    name: standing?.name ?? Object.entries(key).flat().join('_'),
    stands: standing !== undefined,
    isHidden: (standing as { hidden?: boolean } | undefined)?.hidden === true,
    records: await collection.estimatedDocumentCount(),
  };
}

/** Builds it, as {@link buildIndex} does. It is not an index of the service: feeds never hint it, and it is never recreated. */
export async function makeFilterIndex(
  desk: Desk,
  { organizationid, appid, kind }: Tenant & { kind: Kind },
  { key, name, collection }: IndexWish,
  watching: Watching,
): Promise<boolean> {
  const isMade = await buildIndex(desk.db.collection(COLLECTION_OF[kind]), key, watching).catch(
    (error: mongo.MongoServerError) => {
      if (!IN_THE_WAY.has(Number(error.code))) throw error;
      throw new FatalError(
        `Another index over the same fields is in the way: drop ${name} of ${collection}.`,
      );
    },
  );
  const target = `index ${name} of ${collection}`;
  await noteDeed(desk, { action: 'index.make', organizationid, appid, target });
  return isMade;
}
