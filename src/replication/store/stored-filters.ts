import type { mongo, Connection } from 'mongoose';
import { FILTER_BYTES, type ServiceKey } from '../../application/plain.js';
import type { Estimated } from './watcher-status.js';
import { secondsLeft, shareKnown, type FilterVersion } from '../protocol/index.js';
import { FILTER_VERSIONS } from './collections.schema.js';

/*
 * What other programs stored may be of any type and size. The server hands over what can be of use, and nothing else, so
 * that one document costs neither the others nor the next look at them.
 */

const LONGEST_NAME = 64;

/** A stored filter, if its size is one that contract §4 allows. */
export function filterAt(path: string): mongo.Document {
  return { $cond: [isReadable(path), path, '$$REMOVE'] };
}

/** Whether there is something in place of a filter that {@link filterAt} leaves out. */
export function isTooLarge(path: string): mongo.Document {
  return { $and: [{ $ne: [{ $type: path }, 'missing'] }, { $not: [isReadable(path)] }] };
}

/** A stored name, if it is a text that is short enough to be one. */
export function nameAt(path: string): mongo.Document {
  const text = { $cond: [{ $eq: [{ $type: path }, 'string'] }, path, ''] };
  const isShort = { $lte: [{ $strLenBytes: text }, LONGEST_NAME] };
  return { $cond: [isShort, text, ''] };
}

/** The server may look at both conditions whatever the first one says, and knows the size of documents only. */
function isReadable(path: string): mongo.Document {
  const isDocument = { $eq: [{ $type: path }, 'object'] };
  return { $and: [isDocument, { $lt: [{ $bsonSize: { $cond: [isDocument, path, null] } }, FILTER_BYTES] }] };
}

const MOST_SHOWN = 20;
const MOST_COUNTED = 10_000;
/** A scrape leaves out a count that takes longer (milliseconds). */
const LONGEST_MS = 2000;
const PENDING = { pending: true };
const ALONG = { pending: 1, pendingSince: 1, 'stamping.failures': 1 } as const;

/** Services whose edited filter is not in force yet, since records are still to be stamped for it. */
export interface PendingCounts {
  /** At most 10,000. */
  services: number;
  /** For how long the one has waited that was edited first, in seconds; 0 without one. */
  longestSeconds: number;
  /** Attempts that failed, of the one that has most of them. */
  failures: number;
}

/** One of them. */
export interface PendingService extends ServiceKey, Estimated {
  /** When the edit was read, by the database's clock. */
  since: Date | undefined;
  /** How many of the records are looked through, 0 to 1; undefined before it has begun. */
  share: number | undefined;
  failures: number;
}

export async function countPending(connection: Connection): Promise<PendingCounts> {
  const seconds = { $divide: [{ $subtract: ['$$NOW', '$since'] }, 1000] };
  const [found] = await entries(connection)
    .aggregate<PendingCounts>(
      [
        { $match: PENDING },
        { $sort: ALONG },
        { $limit: MOST_COUNTED },
        {
          $group: {
            _id: null,
            services: { $sum: 1 },
            since: {
              $min: { $cond: [{ $eq: [{ $type: '$pendingSince' }, 'date'] }, '$pendingSince', null] },
            },
            failures: { $max: { $cond: [{ $isNumber: '$stamping.failures' }, '$stamping.failures', null] } },
          },
        },
        {
          $project: {
            _id: 0,
            services: 1,
            longestSeconds: { $ifNull: [seconds, 0] },
            failures: { $ifNull: ['$failures', 0] },
          },
        },
      ],
      { maxTimeMS: LONGEST_MS },
    )
    .toArray();
  return found ?? { services: 0, longestSeconds: 0, failures: 0 };
}

/** Those that were edited first. */
export async function firstPending(connection: Connection): Promise<PendingService[]> {
  const found = entries(connection).find(PENDING, {
    projection: { organizationid: 1, appid: 1, kind: 1, name: 1, pendingSince: 1, stamping: 1 },
    sort: ALONG,
    limit: MOST_SHOWN,
    maxTimeMS: LONGEST_MS,
  });
  return found
    .map(({ organizationid, appid, kind, name, pendingSince, stamping }) => ({
      ...{ organizationid, appid, kind, name },
      since: pendingSince instanceof Date ? pendingSince : undefined,
      share: shareKnown(stamping ?? {}),
      failures: typeof stamping?.failures === 'number' ? stamping.failures : 0,
      secondsLeft: secondsLeft(stamping ?? {}),
    }))
    .toArray();
}

function entries(connection: Connection) {
  return connection.collection<FilterVersion>(FILTER_VERSIONS);
}
