import type { mongo } from 'mongoose';
import { type Application, APPLICATIONS, SERVICES } from '../application/plain.js';
import { NAME, textOf } from '../platform/common/index.js';
import { alongIndexIfAny, isDuplicateKey } from '../platform/database/plain.js';
import { collectionOf, describedKind, type Kind, kindNames, KINDS } from '../kinds/index.js';
import { recordsIn, ofTenant, type Tenant } from '../record/index.js';
import { removeSchemas } from '../replication/schema/plain.js';
import { removeHashKey, rotateHashKey } from '../replication/store/plain.js';
import type { AuditedAction } from '../trail/index.js';
import {
  assertMatches,
  changeStored,
  type ChangeContext,
  inUse,
  recordAction,
  readStored,
  Refused,
  type TaggedDocument,
  taken,
  unknownApplication,
} from './changes.js';
import { LISTING, readAll } from './listed-services.js';

/** The fields of an application that are listed. Other programs may store additional ones. */
export const LISTED_APPLICATION = { _id: 0, organizationid: 1, appid: 1, title: 1, settings: 1 } as const;
const ONLY_ID = { projection: { _id: 1 } } as const;
const BY_TENANT = { organizationid: 1, appid: 1, _id: 1 } as const;

/** A stored application. Its values are unknown, because operators write this collection too. */
export type StoredApplication = { [field in keyof Application]?: unknown };

/** The properties of an application that can be changed; null removes one. */
interface ApplicationChange {
  title?: string | null | undefined;
  settings?: Application['settings'] | null | undefined;
}

/** Registers an application. Throws 409 if it already exists. */
export async function createApplication(
  changeContext: ChangeContext,
  { organizationid, appid }: Tenant,
  { title, settings }: ApplicationChange = {},
): Promise<void> {
  const application = { organizationid, appid, ...given({ title, settings }) };
  await applicationsOf(changeContext.db)
    .insertOne(application)
    .catch((error: unknown) => {
      if (isDuplicateKey(error)) throw taken(`The application ${organizationid}/${appid} already exists.`);
      throw error;
    });
  await noteApplication(changeContext, 'application.create', { organizationid, appid });
}

/** Lists the stored applications of the given organizations; of all organizations by default. */
export async function listApplications(
  db: mongo.Db,
  organizationids?: string[],
): Promise<StoredApplication[]> {
  const which = organizationids === undefined ? {} : { organizationid: { $in: organizationids } };
  const found = applicationsOf(db).find(which, {
    ...LISTING,
    ...{ projection: LISTED_APPLICATION, sort: { organizationid: 1, appid: 1 }, raw: true },
  });
  return readAll<StoredApplication>(found);
}

/** Reads a stored application with its entity tag. Throws 404. */
export async function readApplication(db: mongo.Db, tenant: Tenant): Promise<TaggedDocument> {
  const stored = await readStored(applicationsOf(db), ofTenant(tenant));
  if (stored === undefined) throw unknownApplication(nameOfTenant(tenant));
  return stored;
}

/** Changes title or settings. Throws 404 and 412. */
export async function changeApplication(
  changeContext: ChangeContext,
  tenant: Tenant,
  change: ApplicationChange,
  ifMatch?: string,
): Promise<void> {
  const $set = given(change);
  const $unset = Object.fromEntries(nulls(change).map((name) => [name, '']));
  const changed = [...Object.keys($set), ...Object.keys($unset)];
  if (changed.length === 0) return assertMatches(await readApplication(changeContext.db, tenant), ifMatch);
  const applications = applicationsOf(changeContext.db);
  const update = { ...(hasKeys($set) && { $set }), ...(hasKeys($unset) && { $unset }) };
  const unknown = () => unknownApplication(nameOfTenant(tenant));
  await changeStored(applications, ofTenant(tenant), { ifMatch, unknown }, async (isUnchanged) => {
    return (await applications.updateOne(isUnchanged, update)).matchedCount;
  });
  await noteApplication(changeContext, 'application.change', tenant, changed);
}

export async function applicationExists(db: mongo.Db, tenant: Tenant): Promise<boolean> {
  return (await applicationsOf(db).findOne(ofTenant(tenant), ONLY_ID)) !== null;
}

/** Throws 404 if the application does not exist, so that a typing error does not go unnoticed. */
export async function assertApplication(db: mongo.Db, tenant: Tenant): Promise<void> {
  if (!(await applicationExists(db, tenant))) throw unknownApplication(nameOfTenant(tenant));
}

/**
 * Removes an application with its services, their schemas, and the key of its hashes. With `purge`, removes its records
 * too; without it, throws 409 if there are any. Also throws 409 while a kind is fixed to the application, and 404 and
 * 412. The watcher turns removed records into tombstones; the ledger is kept. An interrupted removal can be repeated as
 * long as records or services remain.
 */
export async function removeApplication(
  changeContext: ChangeContext,
  tenant: Tenant,
  { purge, ifMatch }: { purge: boolean; ifMatch?: string | undefined },
): Promise<Map<Kind, number>> {
  const { db } = changeContext;
  await changeContext.readKinds?.();
  const found = await kindsWithRecords(db, tenant);
  const refusal = (await fixedKindRefusal(db, tenant)) ?? (purge ? undefined : stillUsed(tenant, found));
  if (refusal !== undefined) {
    assertMatches(await readApplication(db, tenant), ifMatch);
    throw refusal;
  }
  const services = db.collection(SERVICES);
  const isRepeated = found.length > 0 || (await services.findOne(ofTenant(tenant), ONLY_ID)) !== null;
  await removeDocument(db, tenant, { ifMatch, isRepeated });
  await services.deleteMany(ofTenant(tenant));
  await removeHashKey(db, tenant);
  await removeSchemas(db, tenant);
  const removed = new Map<Kind, number>();
  for (const kind of kindsOfApplications()) {
    // Without `purge`, records that were written since the check stay.
    const { deletedCount } = purge
      ? await recordsIn(db, kind).deleteMany(ofTenant(tenant))
      : { deletedCount: 0 };
    removed.set(kind, deletedCount);
  }
  await noteApplication(changeContext, purge ? 'application.purge' : 'application.remove', tenant);
  return removed;
}

/**
 * Replaces the key of an application's hashes, so that all hashed values are delivered again (contract §7). Throws 404.
 */
export async function rekeyApplication(changeContext: ChangeContext, tenant: Tenant): Promise<void> {
  await assertApplication(changeContext.db, tenant);
  await rotateHashKey(changeContext.db, tenant);
  await noteApplication(changeContext, 'application.rekey', tenant);
}

/** Removes the application's document. Does nothing if an interrupted removal has removed it already. */
async function removeDocument(
  db: mongo.Db,
  tenant: Tenant,
  { ifMatch, isRepeated }: { ifMatch: string | undefined; isRepeated: boolean },
): Promise<void> {
  const applications = applicationsOf(db);
  if (isRepeated && !(await applicationExists(db, tenant))) return;
  const unknown = () => unknownApplication(nameOfTenant(tenant));
  await changeStored(applications, ofTenant(tenant), { ifMatch, unknown }, async (isUnchanged) => {
    return (await applications.deleteOne(isUnchanged)).deletedCount;
  });
}

/** Whether a value is a possible name of an organization or an application. */
export function isName(value: unknown): boolean {
  return typeof value === 'string' && NAME.test(value);
}

export function nameOfTenant({ organizationid, appid }: Tenant): string {
  return `${organizationid}/${appid}`;
}

/** Throws 409 if the application has a record of a kind whose records name their application. */
export async function assertNoRecords(db: mongo.Db, tenant: Tenant): Promise<void> {
  const found = await kindsWithRecords(db, tenant);
  if (found.length === 0) return;
  const advice = `${stillHas(tenant, found)} Delete them first, or remove the application separately`;
  throw inUse(`${advice} with purge=true.`, `${advice} with --purge.`);
}

/**
 * The refusal to remove an application to which a kind is fixed: all records of that kind belong to the application,
 * although they do not name it (contract §8). Undefined if no kind is fixed to it, apart from those for which
 * `isRemoved` returns true.
 */
export async function fixedKindRefusal(
  db: mongo.Db,
  tenant: Tenant,
  isRemoved: (kind: string) => boolean = () => false,
): Promise<Refused | undefined> {
  const found = await db
    .collection(KINDS)
    .find(ofTenant(tenant), { ...LISTING, projection: { name: 1 } })
    .toArray();
  const stays = found.find(({ name }) => !isRemoved(textOf(name)));
  if (stays === undefined) return undefined;
  const detail = `All records of the kind "${textOf(stays['name'])}" belong to ${nameOfTenant(tenant)}. Remove the kind first.`;
  return inUse(detail, detail);
}

/** The kinds whose records name their application. */
function kindsOfApplications(): Kind[] {
  return kindNames().filter((kind) => describedKind(kind).stored?.tenant === undefined);
}

async function kindsWithRecords(db: mongo.Db, tenant: Tenant): Promise<Kind[]> {
  const kinds = kindsOfApplications();
  const found = await Promise.all(
    kinds.map((kind) =>
      alongIndexIfAny(recordsIn(db, kind), BY_TENANT, (along) =>
        recordsIn(db, kind).findOne(ofTenant(tenant), { projection: { _id: 1 }, ...along }),
      ),
    ),
  );
  return kinds.filter((_kind, index) => found[index] !== null);
}

function stillUsed(tenant: Tenant, found: Kind[]): Refused | undefined {
  if (found.length === 0) return undefined;
  const sentence = stillHas(tenant, found);
  return inUse(
    `${sentence} With purge=true they are removed too.`,
    `${sentence} With --purge they are removed too.`,
  );
}

function stillHas(tenant: Tenant, found: Kind[]): string {
  const records = found.map((kind) => collectionOf(kind)).join(' and ');
  return `The application ${nameOfTenant(tenant)} still has ${records}.`;
}

async function noteApplication(
  changeContext: ChangeContext,
  action: ApplicationAction,
  tenant: Tenant,
  changed?: string[],
): Promise<void> {
  await recordAction(changeContext, applicationAction(action, tenant, changed));
}

type ApplicationAction = `application.${'create' | 'change' | 'remove' | 'purge' | 'rekey'}`;

export function applicationAction(
  action: ApplicationAction,
  { organizationid, appid }: Tenant,
  changed?: string[],
): AuditedAction {
  const target = `application ${nameOfTenant({ organizationid, appid })}`;
  return { action, organizationid, appid, target, ...(changed && { changed }) };
}

/** The properties that have a value. */
function given(change: object): mongo.Document {
  return Object.fromEntries(
    Object.entries(change).filter(([, value]) => value !== undefined && value !== null),
  );
}

function nulls(change: object): string[] {
  return Object.entries(change)
    .filter(([, value]) => value === null)
    .map(([name]) => name);
}

function hasKeys(document: object): boolean {
  return Object.keys(document).length > 0;
}

function applicationsOf(db: mongo.Db): mongo.Collection {
  return db.collection(APPLICATIONS);
}
