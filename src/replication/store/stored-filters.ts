import { mongo, type Connection } from 'mongoose';
import { FILTER_BYTES, type ServiceKey } from '../../application/plain.js';
import type { Estimated } from './watcher-status.js';
import { secondsLeft, shareKnown, type FilterVersion, type KeyedFields } from '../protocol/index.js';
import { FILTER_VERSIONS, HASH_KEYS, type HashKey } from './collections.schema.js';
import { randomBytes } from 'node:crypto';
import { shownFieldsFault } from '../../application/pure.js';
import { ofTenant, type Tenant } from '../../record/index.js';

/*
 * Other programs may have stored values of any type and size. The server returns only usable values, so that one bad
 * document affects neither the others nor later reads.
 */

const LONGEST_NAME = 64;

/** A stored filter, if its size is one that contract §4 allows. */
export function filterAt(path: string): mongo.Document {
  return { $cond: [isReadable(path), path, '$$REMOVE'] };
}

/** Whether there is a value that {@link filterAt} omits. */
export function isTooLarge(path: string): mongo.Document {
  return { $and: [isStored(path), { $not: [isReadable(path)] }] };
}

/**
 * The maximum size of stored fields (bytes). Contract §7 limits what a service chooses to {@link FILTER_BYTES}; the
 * names of the stored fields and the key are added.
 */
const FIELDS_BYTES = 2 * FILTER_BYTES;

/** A stored value that chooses fields; `false`, which is never valid, if it is too large to be read. */
export function fieldsAt(path: string): mongo.Document {
  const isSmall = { $lt: [{ $bsonSize: { value: path } }, FIELDS_BYTES] };
  return { $cond: [isStored(path), { $cond: [isSmall, path, false] }, '$$REMOVE'] };
}

/** A stored name, if it is a text that is short enough; otherwise an empty text. */
export function nameAt(path: string): mongo.Document {
  const text = { $cond: [{ $eq: [{ $type: path }, 'string'] }, path, ''] };
  const isShort = { $lte: [{ $strLenBytes: text }, LONGEST_NAME] };
  return { $cond: [isShort, text, ''] };
}

function isStored(path: string): mongo.Document {
  return { $ne: [{ $type: path }, 'missing'] };
}

/** The server may evaluate the second condition even if the first is false, and `$bsonSize` accepts only documents. */
function isReadable(path: string): mongo.Document {
  const isDocument = { $eq: [{ $type: path }, 'object'] };
  return { $and: [isDocument, { $lt: [{ $bsonSize: { $cond: [isDocument, path, null] } }, FILTER_BYTES] }] };
}

const MOST_SHOWN = 20;
const MOST_COUNTED = 10_000;
/** A scrape omits a count that takes longer (milliseconds). */
const LONGEST_MS = 2000;
const PENDING = { pending: true };
const ALONG = { pending: 1, pendingSince: 1, 'stamping.failures': 1 } as const;

/** Counts of the services for which records remain to be re-stamped after an edit. */
export interface PendingCounts {
  /** At most 10,000. */
  services: number;
  /** How long the service that was edited first has waited, in seconds; 0 if there is none. */
  longestSeconds: number;
  /** Failed attempts of the service that has the most. */
  failures: number;
}

/** A service whose re-stamping is pending. */
export interface PendingService extends ServiceKey, Estimated {
  /** When the edit was read, by the database's clock. */
  since: Date | undefined;
  /** The fraction of the records checked, 0 to 1; undefined before the re-stamping has begun. */
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

/** The pending services that were edited first. */
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

const KEY_BYTES = 32;
const FEWEST_BYTES = 16;

/** Whether stored fields are valid, with a key if some are hashed. A service with invalid ones delivers nothing. */
export function areReadable(stored: unknown): stored is KeyedFields | undefined {
  if (stored === undefined) return true;
  if (typeof stored !== 'object' || stored === null) return false;
  const { key, ...fields } = stored as KeyedFields;
  if (shownFieldsFault({ fields }) !== undefined) return false;
  return fields.hash === undefined || isHashKey(key);
}

/** Replaces the key of an application's hashes, so that each hashed value is delivered anew. */
export async function rotateHashKey(db: mongo.Db, { organizationid, appid }: Tenant): Promise<void> {
  const tenant = { organizationid, appid };
  await db
    .collection<HashKey>(HASH_KEYS)
    .replaceOne(ofTenant(tenant), { ...tenant, key: newHashKey() }, { upsert: true });
}

/** The key of an application's hashes; undefined if there is none yet, or if it cannot be read. */
export async function storedHashKey(
  db: mongo.Db,
  { organizationid, appid }: Tenant,
): Promise<mongo.Binary | undefined> {
  const stored = await db.collection<HashKey>(HASH_KEYS).findOne(ofTenant({ organizationid, appid }));
  return isHashKey(stored?.key) ? stored.key : undefined;
}

/** Removes the key of an application that is removed. */
export async function removeHashKey(
  db: mongo.Db,
  { organizationid, appid }: Tenant,
  session?: mongo.ClientSession,
): Promise<void> {
  await db
    .collection<HashKey>(HASH_KEYS)
    .deleteMany(ofTenant({ organizationid, appid }), { ...(session && { session }) });
}

export function newHashKey(): mongo.Binary {
  return new mongo.Binary(randomBytes(KEY_BYTES));
}

export function isHashKey(key: unknown): key is mongo.Binary {
  return key instanceof mongo.Binary && key.length() >= FEWEST_BYTES;
}
