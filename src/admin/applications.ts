import type { mongo } from 'mongoose';
import { type Application, APPLICATIONS, SERVICES } from '../application/index.js';
import { FatalError } from '../common/index.js';
import { isDuplicateKey } from '../database/index.js';
import { COLLECTION_OF, type Kind, KINDS, type Tenant } from '../record/index.js';
import { ofTenant } from './import/index.js';

/** Registers an application. An existing one is an error. */
export async function createApplication(
  db: mongo.Db,
  { organizationid, appid }: Tenant,
  title?: string,
): Promise<void> {
  const application = { organizationid, appid, ...(title !== undefined && { title }) };
  await applicationsOf(db)
    .insertOne(application)
    .catch((error: unknown) => {
      if (isDuplicateKey(error))
        throw new FatalError(`There is an application ${organizationid}/${appid} already.`);
      throw error;
    });
}

/** All of them as they are stored: operators write this collection too. */
export function listApplications(db: mongo.Db): Promise<{ [field in keyof Application]?: unknown }[]> {
  return applicationsOf(db)
    .find<{ [field in keyof Application]?: unknown }>(
      {},
      { projection: { _id: 0 }, sort: { organizationid: 1, appid: 1 } },
    )
    .toArray();
}

export async function applicationExists(db: mongo.Db, tenant: Tenant): Promise<boolean> {
  return (await applicationsOf(db).findOne(ofTenant(tenant), { projection: { _id: 1 } })) !== null;
}

/** Throws where the application does not exist: a typing error would work on nothing. */
export async function assertApplication(db: mongo.Db, tenant: Tenant): Promise<void> {
  if (!(await applicationExists(db, tenant))) {
    throw new FatalError(`There is no application ${nameOfTenant(tenant)}: see "application list".`);
  }
}

/**
 * Removes an application and its services, and with `purge` its records; without it, records are an error. The watcher
 * turns removed records into tombstones, and the ledger stays. Can be repeated where it was cut off.
 */
export async function removeApplication(
  db: mongo.Db,
  tenant: Tenant,
  { purge }: { purge: boolean },
): Promise<Record<Kind, number>> {
  const found = await kindsWithRecords(db, tenant);
  if (found.length > 0 && !purge) {
    throw new FatalError(
      `The application ${nameOfTenant(tenant)} still has ${found.map((kind) => COLLECTION_OF[kind]).join(' and ')}. ` +
        'With --purge they are removed too.',
    );
  }
  if (found.length === 0) await assertApplication(db, tenant);
  await applicationsOf(db).deleteOne(ofTenant(tenant));
  await db.collection(SERVICES).deleteMany(ofTenant(tenant));
  const removed = { member: 0, product: 0 };
  for (const kind of KINDS) {
    removed[kind] = (await db.collection(COLLECTION_OF[kind]).deleteMany(ofTenant(tenant))).deletedCount;
  }
  return removed;
}

export function nameOfTenant({ organizationid, appid }: Tenant): string {
  return `${organizationid}/${appid}`;
}

async function kindsWithRecords(db: mongo.Db, tenant: Tenant): Promise<Kind[]> {
  const found = await Promise.all(
    KINDS.map((kind) =>
      db.collection(COLLECTION_OF[kind]).findOne(ofTenant(tenant), { projection: { _id: 1 } }),
    ),
  );
  return KINDS.filter((_kind, index) => found[index] !== null);
}

function applicationsOf(db: mongo.Db): mongo.Collection {
  return db.collection(APPLICATIONS);
}
