import type { mongo } from 'mongoose';
import { type Filter, filterFault, type FilterPart, partsOf, effortInSteps } from '../application/plain.js';
import { atOnce, DeadlineError, shown, type Steps, within } from '../platform/common/index.js';
import { isRefusedQuery, isTimeout } from '../platform/database/plain.js';
import type { Kind } from '../kinds/index.js';
import { recordsIn, FIRST_ID, type Tenant } from '../record/index.js';
import { type FilterTurn, invalid, type Refused } from './changes.js';

const TRIAL_MS = 5000;
/** Extra time for the trial, in ms. MongoDB does not interrupt a regular expression while it matches one string. */
const SPARE_MS = 1000;
/** Maximum number of characters that are kept of MongoDB's message, which may repeat a value of the filter. */
const LONGEST_SAID = 300;

/** Throws if contract §4 does not allow the filter, or if its regular expressions may take long. */
export function assertFilter(filter: unknown): asserts filter is Filter {
  atOnce(assertFilterInSteps(filter));
}

export function* assertFilterInSteps(filter: unknown): Steps<void> {
  const fault = filterFault(filter) ?? (yield* effortInSteps(filter as Filter));
  if (fault !== undefined) throw invalid(`The filter is not valid. ${fault}`, '/filter');
}

/** Runs the trial at once. Commands use it: they run one trial at a time. */
export const AT_ONCE: FilterTurn = (_of, work, ms) =>
  within(ms, 'The trial of a filter', work()).catch((error: unknown) => {
    if (error instanceof DeadlineError) return undefined;
    throw error;
  });

/** A kind of an application, with its collection if the kind does not exist yet. */
interface TriedOn extends Tenant {
  kind: Kind;
  collection?: string | undefined;
}

const triedIn = (db: mongo.Db, { kind, collection }: TriedOn) =>
  collection === undefined ? recordsIn(db, kind) : db.collection(collection);

/** Runs a filter on MongoDB for a limited time and throws if MongoDB refuses it. A filter that is only slow is valid. */
export async function tryFilter(
  db: mongo.Db,
  of: TriedOn,
  filter: Filter,
  { maxTimeMS = TRIAL_MS, turn = AT_ONCE }: { maxTimeMS?: number; turn?: FilterTurn | undefined } = {},
): Promise<void> {
  const { organizationid, appid } = of;
  try {
    const matching = { $and: [{ organizationid, appid }, filter] };
    const find = async () => ({
      found: await triedIn(db, of).findOne(matching, { maxTimeMS }),
    });
    await turn(of, find, maxTimeMS + SPARE_MS);
  } catch (error) {
    if (!isTimeout(error)) throw (await refusalOf(db, of, filter, error)) ?? error;
  }
}

/**
 * The 400 for a filter that MongoDB refuses, with MongoDB's message and the refused place; undefined for any other
 * error.
 */
export async function refusalOf(
  db: mongo.Db,
  of: TriedOn,
  filter: Filter,
  error: unknown,
): Promise<Refused | undefined> {
  if (!isRefusedQuery(error)) return undefined;
  const part = await refusedAmong(partsOf(filter), (some) => isRefused(db, of, some)).catch(() => undefined);
  const place = part === undefined ? '' : ` at ${shown(part.place)}`;
  const { message } = error as Error;
  const said = message.length > LONGEST_SAID ? `${message.slice(0, LONGEST_SAID)}…` : message;
  return invalid(`MongoDB refuses the filter${place}: ${said}.`, '/filter');
}

/**
 * Finds the first refused part by binary search; undefined if MongoDB accepts the parts as separate conditions. MongoDB
 * reports what is wrong with a filter, but not where.
 */
async function refusedAmong(
  parts: FilterPart[],
  areRefused: (some: FilterPart[]) => Promise<boolean>,
): Promise<FilterPart | undefined> {
  let rest = parts;
  if (!(await areRefused(rest))) return undefined;
  while (rest.length > 1) {
    const half = rest.slice(0, rest.length >> 1);
    rest = (await areRefused(half)) ? half : rest.slice(half.length);
  }
  return rest[0];
}

/** MongoDB refuses a filter while parsing it, so a query that matches no record is enough. */
async function isRefused(db: mongo.Db, of: TriedOn, parts: FilterPart[]): Promise<boolean> {
  const conditions = parts.map(({ field, condition }) => ({ [field]: condition }));
  const { organizationid, appid } = of;
  const nothing = { organizationid, appid, _id: FIRST_ID, $and: [{}, ...conditions] };
  return triedIn(db, of)
    .findOne(nothing, { maxTimeMS: TRIAL_MS })
    .then(
      () => false,
      (error: unknown) => {
        if (isRefusedQuery(error)) return true;
        throw error;
      },
    );
}
