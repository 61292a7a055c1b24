import mongoose, { type mongo } from 'mongoose';
import { type Filter, filterFault } from '../application/index.js';
import { isDatabaseAway, isTimeout } from '../database/index.js';
import { COLLECTION_OF, type Kind, type Tenant } from '../record/index.js';
import { invalid, type Refused } from './refused.js';

const TRIAL_MS = 5000;

/** Throws where a filter is none that contract §4 allows. */
export function assertFilter(filter: unknown): asserts filter is Filter {
  const fault = filterFault(filter);
  if (fault !== undefined) throw invalid(`The filter is not valid. ${fault}`, '/filter');
}

/** Has MongoDB run a filter, for so long: throws where it refuses. One that only takes long is understood. */
export async function tryFilter(
  db: mongo.Db,
  { organizationid, appid, kind }: Tenant & { kind: Kind },
  filter: Filter,
  maxTimeMS = TRIAL_MS,
): Promise<void> {
  try {
    const matching = { $and: [{ organizationid, appid }, filter] };
    await db.collection(COLLECTION_OF[kind]).findOne(matching, { maxTimeMS });
  } catch (error) {
    if (!isTimeout(error)) throw refusal(error) ?? error;
  }
}

/** What MongoDB says against a filter; nothing where the error is another. */
export function refusal(error: unknown): Refused | undefined {
  if (!(error instanceof mongoose.mongo.MongoServerError) || isDatabaseAway(error)) return undefined;
  return isTimeout(error)
    ? invalid('MongoDB took too long over this filter; QUERY_MS allows more.')
    : invalid(`MongoDB refuses the filter: ${error.message}.`, '/filter');
}
