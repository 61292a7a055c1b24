import { calculateObjectSize, ObjectId } from 'bson';
import type { mongo } from 'mongoose';
import {
  DEFAULT_SERVICE,
  type Filter,
  MOST_SERVICE_BYTES,
  MOST_SERVICES,
  type ServiceKey,
  SERVICES,
  type ShownFields,
} from '../application/plain.js';
import { count, exactly } from '../platform/common/index.js';
import { isDuplicateKey } from '../platform/database/plain.js';
import { Problem } from '../platform/http/plain.js';
import { ofTenant, type Tenant } from '../record/index.js';
import type { AuditedAction } from '../trail/index.js';
import { applicationExists, nameOfTenant } from './applications.js';
import {
  changeStored,
  type ChangeContext,
  recordAction,
  readStored,
  Refused,
  type TaggedDocument,
  taken,
  unknownApplication,
  unknownService,
} from './changes.js';
import { tryFilter } from './filter-trial.js';
import { assertServiceRules, edited } from './service-rules.js';

/**
 * The new values of a service. The filter is required, except for `default`, which has none. Other values stay
 * unchanged if they are omitted, and are removed if they are null.
 */
interface ServiceSetting {
  filter?: Filter | undefined;
  description?: string | undefined;
  enabled?: boolean | undefined;
  fields?: ShownFields | null | undefined;
  hash?: string[] | null | undefined;
  allowHiddenFilter?: boolean | null | undefined;
  schemaExamples?: boolean | null | undefined;
}

/** The precondition of a change: the entity tag of the version to replace, or that none exists. */
interface Condition {
  ifMatch?: string | undefined;
  /** The service must not exist yet. */
  isNew?: boolean;
  /** The application need not exist yet. */
  isEarly?: boolean;
}

/** Registers or changes a service, after MongoDB has accepted the filter. Throws 400, 404, 409 and 412. */
export async function setService(
  changeContext: ChangeContext,
  key: ServiceKey,
  { filter, ...setting }: ServiceSetting,
  { ifMatch, isNew = false, isEarly = false }: Condition = {},
): Promise<void> {
  const { db, turn } = changeContext;
  if (filter !== undefined) await tryFilter(db, key, filter, { turn });
  const change = { key, values: { ...(key.name !== DEFAULT_SERVICE && { filter }), ...setting } };
  if (isNew) await insertService(db, change);
  else await editService(db, change, ifMatch);
  if (!isEarly) await assertStillThere(db, key);
  const changed = Object.entries(change.values).filter(([, value]) => value !== undefined);
  await noteService(
    changeContext,
    'service.set',
    key,
    changed.map(([name]) => name),
  );
}

/** The key of a service, and its new values. */
interface KeyedSetting {
  key: ServiceKey;
  values: ServiceSetting;
}

/**
 * Throws 404, and removes the service again, if its application does not exist or was removed meanwhile. A removal
 * deletes the application before its services, so a service written in between is found either by the removal or here.
 */
async function assertStillThere(db: mongo.Db, key: ServiceKey): Promise<void> {
  if (await applicationExists(db, key)) return;
  await servicesOf(db).deleteOne(withKey(key));
  throw unknownApplication(nameOfTenant(key));
}

async function insertService(db: mongo.Db, { key, values }: KeyedSetting): Promise<void> {
  assertServiceRules({ ...values, name: key.name });
  const { $set } = updateTo(values);
  await assertRoomForServices(db, key, [{ key, fields: $set }]);
  await servicesOf(db)
    .insertOne({ ...key, ...$set })
    .catch((error: unknown) => {
      if (isDuplicateKey(error)) throw taken(`There is a ${nameOfService(key)} already.`);
      throw error;
    });
}

/**
 * Changes a service, or registers it. The new properties must be valid in combination with the stored ones that stay,
 * so a service that chooses its fields is written only if it has not changed since this was checked.
 */
async function editService(db: mongo.Db, edit: KeyedSetting, ifMatch: string | undefined): Promise<void> {
  const { key, values } = edit;
  const which = withKey(key);
  const update = updateTo(values);
  const stored = await readStored(servicesOf(db), which);
  const before = stored?.document ?? {};
  const after = edited(before, values);
  assertServiceRules({ ...after, name: key.name });
  const kept = Object.entries(before).filter(([name]) => !Object.hasOwn(update.$unset, name));
  const fields = { ...Object.fromEntries(kept), ...update.$set };
  await assertRoomForServices(db, key, [{ key, fields, before: stored?.document }]);
  const unknown = () => unknownService(nameOfService(key));
  const isChoosing = CHOOSING.some((name) => (before[name] ?? after[name] ?? null) !== null);
  if (ifMatch === undefined && (stored === undefined || !isChoosing)) {
    const { $set, $unset } = update;
    const isWritten = await servicesOf(db)
      .updateOne({ ...which, ...NOT_CHOOSING }, { $set: { ...key, ...$set }, $unset }, { upsert: true })
      .then(
        () => true,
        (error: unknown) => {
          if (isDuplicateKey(error)) return false;
          throw error;
        },
      );
    if (isWritten) return;
  }
  await changeStored(servicesOf(db), which, { ifMatch, unknown }, async (isUnchanged, { document }) => {
    assertServiceRules({ ...edited(document, values), name: key.name });
    return (await servicesOf(db).updateOne(isUnchanged, update)).matchedCount;
  });
}

/** Bytes of BSON of a document without fields. */
const EMPTY_BYTES = 5;

/** The properties that choose what a service shows. They are checked in combination. */
const CHOOSING = ['fields', 'hash', 'allowHiddenFilter', 'schemaExamples'] as const;
/**
 * The condition of an upsert: the service has none of these properties. If another writer has given it one meanwhile,
 * no document matches, and the insertion fails as a duplicate.
 */
const NOT_CHOOSING = Object.fromEntries(CHOOSING.map((name) => [name, { $exists: false }]));

function updateTo(values: ServiceSetting): { $set: mongo.Document; $unset: mongo.Document } {
  const entries = Object.entries(values).filter(([, value]) => value !== undefined);
  const removed = entries.filter(([, value]) => value === null);
  return {
    $set: Object.fromEntries(entries.filter(([, value]) => value !== null)),
    $unset: Object.fromEntries(removed.map(([name]) => [name, ''])),
  };
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
  /** The stored fields that `fields` replaces; absent for a new service. */
  before?: mongo.Document | undefined;
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
  for (const { key, fields, before: replaced } of changes) {
    const entry = serviceEntryKey(key);
    const stored = sizes.get(entry);
    if (fields === undefined) sizes.delete(entry);
    else if (stored === undefined || replaced === undefined)
      sizes.set(entry, bytesOf({ _id: new ObjectId(), ...key, ...fields }));
    // The stored document may have further fields of other programs.
    else sizes.set(entry, stored + bytesOf(fields) - bytesOf(replaced));
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

/** A value that the driver could not send, which an edit leaves as it is, counts as none. */
function bytesOf(fields: mongo.Document): number {
  return Object.entries(fields).reduce((bytes, [name, value]: [string, unknown]) => {
    try {
      return bytes + calculateObjectSize({ [name]: value }, { ignoreUndefined: true }) - EMPTY_BYTES;
    } catch {
      return bytes;
    }
  }, EMPTY_BYTES);
}

/** The size of each stored service, in bytes of BSON. */
async function sizesOf(db: mongo.Db, tenant: Tenant): Promise<Map<string, number>> {
  const found = db
    .collection(SERVICES)
    .aggregate<{ kind: string; name: string; bytes: number }>([
      { $match: ofTenant(tenant) },
      { $project: { _id: 0, kind: 1, name: 1, bytes: { $bsonSize: '$$ROOT' } } },
    ]);
  return new Map(
    (await found.toArray()).map(({ kind, name, bytes }) => [serviceEntryKey({ kind, name }), bytes]),
  );
}

function serviceEntryKey({ kind, name }: { kind: unknown; name: unknown }): string {
  return JSON.stringify([kind, name]);
}

function sum(sizes: Map<string, number>): number {
  return [...sizes.values()].reduce((total, bytes) => total + bytes, 0);
}

function noRoom(detail: string): Refused {
  return new Refused(new Problem(409, 'too-many-services', 'The application has no room for it', detail));
}
