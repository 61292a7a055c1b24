import { calculateObjectSize } from 'bson';
import type { mongo } from 'mongoose';
import {
  type Filter,
  filterFault,
  isEnabled,
  MOST_SERVICE_BYTES,
  MOST_SERVICES,
  RESERVED_SERVICE_NAMES,
  type ServiceKey,
  SERVICES,
  type StoredService,
} from '../application/plain.js';
import { count, exactly, NAME, NAME_RULE } from '../platform/common/index.js';
import { isDuplicateKey } from '../platform/database/plain.js';
import { Problem } from '../platform/http/plain.js';
import { ofTenant, type Tenant } from '../record/index.js';
import { FILTER_VERSIONS } from '../replication/store/plain.js';
import type { FilterVersionChange } from '../replication/protocol/index.js';
import type { AuditedAction } from '../trail/index.js';
import { applicationExists, nameOfTenant } from './applications.js';
import {
  changeStored,
  type ChangeContext,
  invalid,
  recordAction,
  readStored,
  Refused,
  type TaggedDocument,
  taken,
  unknownApplication,
  unknownService,
} from './changes.js';
import { tryFilter } from './filter-trial.js';

/** The new values of a service. Omitted values stay unchanged. */
interface ServiceSetting {
  filter: Filter;
  description?: string | undefined;
  enabled?: boolean | undefined;
}

/** The precondition of a change: the entity tag of the version to replace, or that none exists. */
interface Condition {
  ifMatch?: string | undefined;
  /** The service must not exist yet. */
  isNew?: boolean;
  /** The application need not exist yet. */
  isEarly?: boolean;
}

/** Why a service cannot have this name; undefined if it can. */
export function serviceNameFault(name: string): string | undefined {
  if (!NAME.test(name)) return `${NAME_RULE}.`;
  const others = RESERVED_SERVICE_NAMES.filter((reserved) => reserved !== name).join(' and ');
  return RESERVED_SERVICE_NAMES.includes(name)
    ? `is reserved, as are ${others}; choose another, such as "erp".`
    : undefined;
}

/** Registers or changes a service, after MongoDB has accepted the filter. Throws 400, 404, 409 and 412. */
export async function setService(
  changeContext: ChangeContext,
  key: ServiceKey,
  { filter, description, enabled }: ServiceSetting,
  { ifMatch, isNew = false, isEarly = false }: Condition = {},
): Promise<void> {
  await tryFilter(changeContext.db, key, filter, { turn: changeContext.turn });
  const set = {
    filter,
    ...(description !== undefined && { description }),
    ...(enabled !== undefined && { enabled }),
  };
  await assertRoomForServices(changeContext.db, key, [{ key, fields: set }]);
  if (isNew) await insertService(changeContext.db, key, set);
  else if (ifMatch === undefined) await upsertService(changeContext.db, key, set);
  else await replaceService(changeContext.db, key, set, ifMatch);
  if (!isEarly) await assertStillThere(changeContext.db, key);
  await noteService(changeContext, 'service.set', key, Object.keys(set));
}

/**
 * Removes the service again if its application was removed meanwhile. A removal deletes the application before its services,
 * so a service written in between is found either by the removal or here.
 */
async function assertStillThere(db: mongo.Db, key: ServiceKey): Promise<void> {
  if (await applicationExists(db, key)) return;
  await servicesOf(db).deleteOne(withKey(key));
  throw unknownApplication(nameOfTenant(key));
}

async function insertService(db: mongo.Db, key: ServiceKey, set: mongo.Document): Promise<void> {
  await servicesOf(db)
    .insertOne({ ...key, ...set })
    .catch((error: unknown) => {
      if (isDuplicateKey(error)) throw taken(`There is a ${nameOfService(key)} already.`);
      throw error;
    });
}

async function upsertService(db: mongo.Db, key: ServiceKey, set: mongo.Document): Promise<void> {
  await servicesOf(db).updateOne(withKey(key), { $set: { ...key, ...set } }, { upsert: true });
}

async function replaceService(
  db: mongo.Db,
  key: ServiceKey,
  set: mongo.Document,
  ifMatch: string,
): Promise<void> {
  const unknown = () => unknownService(nameOfService(key));
  await changeStored(servicesOf(db), withKey(key), { ifMatch, unknown }, async (isUnchanged) => {
    return (await servicesOf(db).updateOne(isUnchanged, { $set: set })).matchedCount;
  });
}

/** Reads a stored service with its entity tag. Throws 404. */
export async function readService(db: mongo.Db, key: ServiceKey): Promise<TaggedDocument> {
  const stored = await readStored(servicesOf(db), withKey(key));
  if (stored === undefined) throw unknownService(nameOfService(key));
  return stored;
}

/** Throws 404 and 412. */
export async function removeService(
  changeContext: ChangeContext,
  key: ServiceKey,
  ifMatch?: string,
): Promise<void> {
  const services = servicesOf(changeContext.db);
  const unknown = () => unknownService(nameOfService(key));
  await changeStored(services, withKey(key), { ifMatch, unknown }, async (isUnchanged) => {
    return (await services.deleteOne(isUnchanged)).deletedCount;
  });
  await noteService(changeContext, 'service.remove', key);
}

/**
 * The filter that a new filter is compared with (design §3): the served one, otherwise the last valid one. Undefined if
 * there was none, so that nothing is re-stamped.
 */
export async function filterInForce(db: mongo.Db, key: ServiceKey): Promise<Filter | undefined> {
  const [service, entry] = await Promise.all([
    servicesOf(db).findOne<StoredService>(withKey(key)),
    db.collection(FILTER_VERSIONS).findOne<FilterVersionChange>(withKey(key)),
  ]);
  const isServed =
    service !== null && isEnabled(service) && entry?.state !== 'invalid' && entry?.state !== 'beyond';
  const candidates = [...(isServed ? [service.filter] : []), entry?.filter];
  return candidates.find((filter) => filterFault(filter) === undefined) as Filter | undefined;
}

/** The stored filter of a service. Throws 400 if it is not valid, and 404. */
export async function storedFilter(db: mongo.Db, key: ServiceKey): Promise<Filter> {
  const { document } = await readService(db, key);
  const { filter } = document as StoredService;
  const fault = filterFault(filter);
  if (fault !== undefined) throw invalid(`The stored filter is not valid. ${fault}`);
  return filter as Filter;
}

async function noteService(
  changeContext: ChangeContext,
  action: ServiceAction,
  key: ServiceKey,
  changed?: string[],
): Promise<void> {
  await recordAction(changeContext, serviceAction(action, key, changed));
}

type ServiceAction = `service.${'set' | 'remove'}`;

export function serviceAction(
  action: ServiceAction,
  { organizationid, appid, kind, name }: ServiceKey,
  changed?: string[],
): AuditedAction {
  const target = `${kind} service ${name}`;
  return { action, organizationid, appid, target, ...(changed && { changed }) };
}

/** The query for the service with this key. */
export function withKey({ kind, name, ...tenant }: ServiceKey): mongo.Document {
  return { ...ofTenant(tenant), kind: exactly(kind), name: exactly(name) };
}

function servicesOf(db: mongo.Db): mongo.Collection {
  return db.collection(SERVICES);
}

export function nameOfService({ kind, name, ...tenant }: ServiceKey): string {
  return `${kind} service "${name}" of ${nameOfTenant(tenant)}`;
}

/** The new state of a service; without fields, it is removed. */
export interface ServiceChange {
  key: ServiceKey;
  fields?: mongo.Document;
}

/**
 * Throws 409 if changes would exceed the limits for the number or the total size of an application's services. If other
 * programs have already exceeded a limit, changes may reduce or keep the excess.
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

/** The size of each stored service, in bytes of BSON. */
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
