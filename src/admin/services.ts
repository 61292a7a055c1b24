import mongoose, { type mongo } from 'mongoose';
import {
  type Filter,
  filterFault,
  RESERVED_SERVICE_NAMES,
  type ServiceKey,
  SERVICES,
  type StoredService,
} from '../application/index.js';
import { exactly, FatalError, NAME, NAME_RULE, shown } from '../common/index.js';
import { isDatabaseAway, isTimeout } from '../database/index.js';
import { COLLECTION_OF, type Kind, type Tenant } from '../record/index.js';
import { nameOfTenant } from './applications.js';
import { ofTenant } from './import/index.js';

const TRIAL_MS = 5000;
const SHOWN_IDS = 10;

/** Throws where the name breaks the rule or means something in the paths already. */
export function assertServiceName(name: string): void {
  if (!NAME.test(name)) throw new FatalError(`--name "${shown(name)}" ${NAME_RULE}.`);
  if (RESERVED_SERVICE_NAMES.includes(name)) {
    const reserved = RESERVED_SERVICE_NAMES.join(', ');
    throw new FatalError(`--name "${name}" is reserved, as are ${reserved}; choose another, such as "erp".`);
  }
}

/** Registers a service, or gives it another filter, after MongoDB has accepted the filter. */
export async function setService(
  db: mongo.Db,
  key: ServiceKey,
  filter: Filter,
  description?: string,
): Promise<void> {
  await tryFilter(db, key, filter);
  const set = { filter, ...(description !== undefined && { description }) };
  await servicesOf(db).updateOne(withKey(key), { $set: { ...key, ...set } }, { upsert: true });
}

/** Services as they are stored: operators write this collection too. */
export function listServices(db: mongo.Db, tenant: Partial<Tenant>, kind?: Kind): Promise<StoredService[]> {
  return servicesOf(db)
    .find<StoredService>(
      { ...tenant, ...(kind !== undefined && { kind }) },
      { projection: { _id: 0 }, sort: { organizationid: 1, appid: 1, kind: 1, name: 1 } },
    )
    .toArray();
}

export async function removeService(db: mongo.Db, key: ServiceKey): Promise<void> {
  const { deletedCount } = await servicesOf(db).deleteOne(withKey(key));
  if (deletedCount === 0) throw noSuchService(key);
}

/** The stored filter of a service; throws where it is not valid. */
export async function storedFilter(db: mongo.Db, key: ServiceKey): Promise<Filter> {
  const service = await servicesOf(db).findOne<StoredService>(withKey(key));
  if (service === null) throw noSuchService(key);
  const fault = filterFault(service.filter);
  if (fault !== undefined) throw new FatalError(`The stored filter is not valid. ${fault}`);
  return service.filter as Filter;
}

/** How many records of the application and kind match a filter, of how many, and the `id`s of the first of them. */
export interface Preview {
  matching: number;
  records: number;
  ids: string[];
}

export async function previewFilter(
  db: mongo.Db,
  { organizationid, appid, kind }: Tenant & { kind: Kind },
  filter: Filter,
  maxTimeMS: number,
): Promise<Preview> {
  const records = db.collection(COLLECTION_OF[kind]);
  const matching = { $and: [{ organizationid, appid }, filter] };
  try {
    const ids = await records
      .find(matching, { projection: { _id: 0, id: 1 }, sort: { _id: 1 }, limit: SHOWN_IDS, maxTimeMS })
      .toArray();
    return {
      matching: await records.countDocuments(matching, { maxTimeMS }),
      records: await records.countDocuments({ organizationid, appid }, { maxTimeMS }),
      ids: ids.map(({ id }) => String(id)),
    };
  } catch (error) {
    throw refusal(error) ?? error;
  }
}

/** A filter that only takes long is understood, and that is what is tried here. */
async function tryFilter(
  db: mongo.Db,
  { organizationid, appid, kind }: ServiceKey,
  filter: Filter,
): Promise<void> {
  try {
    const matching = { $and: [{ organizationid, appid }, filter] };
    await db.collection(COLLECTION_OF[kind]).findOne(matching, { maxTimeMS: TRIAL_MS });
  } catch (error) {
    if (!isTimeout(error)) throw refusal(error) ?? error;
  }
}

function refusal(error: unknown): FatalError | undefined {
  if (!(error instanceof mongoose.mongo.MongoServerError) || isDatabaseAway(error)) return undefined;
  return isTimeout(error)
    ? new FatalError('MongoDB took too long over this filter; QUERY_MS allows more.')
    : new FatalError(`MongoDB refuses the filter: ${error.message}.`);
}

function noSuchService({ kind, name, ...tenant }: ServiceKey): FatalError {
  return new FatalError(
    `There is no ${kind} service "${name}" in ${nameOfTenant(tenant)}: see "service list".`,
  );
}

function withKey({ kind, name, ...tenant }: ServiceKey): mongo.Document {
  return { ...ofTenant(tenant), kind: exactly(kind), name: exactly(name) };
}

function servicesOf(db: mongo.Db): mongo.Collection {
  return db.collection(SERVICES);
}

export function nameOfService({ kind, name, ...tenant }: ServiceKey): string {
  return `${kind} service "${name}" of ${nameOfTenant(tenant)}`;
}
