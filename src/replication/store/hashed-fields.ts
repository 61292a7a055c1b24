import { randomBytes } from 'node:crypto';
import { mongo } from 'mongoose';
import { shownFieldsFault } from '../../application/pure.js';
import { ofTenant, type Tenant } from '../../record/index.js';
import type { KeyedFields } from '../protocol/index.js';
import { HASH_KEYS, type HashKey } from './collections.schema.js';

const KEY_BYTES = 32;
const FEWEST_BYTES = 16;

/** Whether stored fields are valid, with a key if some are hashed. A service with other ones delivers nothing. */
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
