import { calculateObjectSize } from 'bson';
import type { mongo } from 'mongoose';
import { MOST_SERVICE_BYTES, MOST_SERVICES, type ServiceKey, SERVICES } from '../application/plain.js';
import { count } from '../common/index.js';
import { Problem } from '../http/plain.js';
import { ofTenant, type Tenant } from '../record/index.js';
import { nameOfTenant } from './applications.js';
import { Refused } from './refused.js';

/** A service as it would be; without fields it is removed. */
export interface ServiceChange {
  key: ServiceKey;
  fields?: mongo.Document;
}

/**
 * Throws 409 where changes would give an application more services than it may have, or larger ones. What other programs stored
 * beyond that may become less, and stay.
 */
export async function assertRoomForServices(
  db: mongo.Db,
  tenant: Tenant,
  changes: ServiceChange[],
): Promise<void> {
  const sizes = await sizesOf(db, tenant);
  const before = { services: sizes.size, bytes: sum(sizes) };
  for (const { key, fields } of changes) {
    if (fields === undefined) sizes.delete(nameOf(key));
    else sizes.set(nameOf(key), calculateObjectSize({ ...key, ...fields }, { ignoreUndefined: true }));
  }
  const after = { services: sizes.size, bytes: sum(sizes) };
  if (after.services > MOST_SERVICES && after.services > before.services)
    throw noRoom(
      `${nameOfTenant(tenant)} would have ${count(after.services)} services; at most ${count(MOST_SERVICES)} are allowed. Remove some first.`,
    );
  if (after.bytes > MOST_SERVICE_BYTES && after.bytes > before.bytes)
    throw noRoom(
      `The services of ${nameOfTenant(tenant)} would take ${count(after.bytes)} bytes together; at most ${count(MOST_SERVICE_BYTES)} are allowed. Make their filters smaller, or remove some.`,
    );
}

/** The bytes of each service that is stored. */
async function sizesOf(db: mongo.Db, tenant: Tenant): Promise<Map<string, number>> {
  const found = db
    .collection(SERVICES)
    .aggregate<{ kind: string; name: string; bytes: number }>([
      { $match: ofTenant(tenant) },
      { $project: { _id: 0, kind: 1, name: 1, bytes: { $bsonSize: '$$ROOT' } } },
    ]);
  return new Map((await found.toArray()).map(({ kind, name, bytes }) => [nameOf({ kind, name }), bytes]));
}

function nameOf({ kind, name }: { kind: unknown; name: unknown }): string {
  return JSON.stringify([kind, name]);
}

function sum(sizes: Map<string, number>): number {
  return [...sizes.values()].reduce((total, bytes) => total + bytes, 0);
}

function noRoom(detail: string): Refused {
  return new Refused(new Problem(409, 'too-many-services', 'The application has no room for it', detail));
}
