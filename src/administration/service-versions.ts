import type { mongo } from 'mongoose';
import {
  DEFAULT_SERVICE,
  type Filter,
  filterFault,
  type ServiceKey,
  SERVICES,
  shownFieldsOf,
  type StoredService,
} from '../application/plain.js';
import { documentOf, type Tenant } from '../record/index.js';
import { areReadable, FILTER_VERSIONS, storedHashKey } from '../replication/store/plain.js';
import {
  type FilterVersionChange,
  type KeyedFields,
  knownOf,
  wantedOf,
} from '../replication/protocol/index.js';
import { invalid } from './changes.js';
import { assertServiceRules, edited, type ServiceEdit } from './service-rules.js';
import { readService, withKey } from './services.js';

/** The filter and the fields of a service. */
export interface ServiceVersion {
  filter: Filter;
  /** Undefined if items are shown whole. */
  fields?: KeyedFields | undefined;
}

/**
 * The version that a new one is compared with (design §3): the served one, otherwise the last valid one. Undefined if
 * there was none, so that nothing is re-stamped, or if the stored one cannot be read.
 */
export async function versionInForce(db: mongo.Db, key: ServiceKey): Promise<ServiceVersion | undefined> {
  const [service, stored, hashKey] = await Promise.all([
    storedService(db, key),
    db.collection(FILTER_VERSIONS).findOne<FilterVersionChange>(withKey(key)),
    storedHashKey(db, key),
  ]);
  const isLeftOut = stored?.state === 'invalid' || stored?.state === 'beyond';
  const isDefault = key.name === DEFAULT_SERVICE;
  const served = wantedOf(service ?? undefined, { isBeyond: isLeftOut, hashKey, isDefault });
  if (served.state === 'on') return served;
  const { filter, fields } = knownOf(key, stored ?? undefined) ?? {};
  const isReadable = filterFault(filter) === undefined && areReadable(fields);
  return isReadable ? { filter: filter!, fields } : undefined;
}

/**
 * The version that an edit of a service would create; without a name, that of a service with only the given properties.
 * Throws 400 if the given properties are not valid in combination with each other and with the stored ones that remain.
 */
export async function editedVersion(
  db: mongo.Db,
  { name, ...of }: Omit<ServiceKey, 'name'> & { name?: string | undefined },
  edit: ServiceEdit,
): Promise<ServiceVersion> {
  const stored = name === undefined ? null : await storedService(db, { ...of, name });
  const rules = { ...edited(stored ?? {}, edit), name: name ?? '' };
  assertServiceRules(rules);
  return versionOf(db, of, rules);
}

async function storedService(db: mongo.Db, key: ServiceKey): Promise<StoredService | null> {
  const raw = await db.collection(SERVICES).findOne(withKey(key), { raw: true });
  return raw && documentOf<StoredService>(raw);
}

/** The version of valid properties, with the key of the application's hashes if it has one. */
export async function versionOf(
  db: mongo.Db,
  tenant: Tenant,
  { filter = {}, ...stored }: ServiceEdit,
): Promise<ServiceVersion> {
  const fields = shownFieldsOf(stored);
  const key = fields?.hash === undefined ? undefined : await storedHashKey(db, tenant);
  return { filter, fields: fields && { ...fields, ...(key && { key }) } };
}

/** The stored filter of a service. Throws 400 if it is not valid, and 404. */
export async function storedFilter(db: mongo.Db, key: ServiceKey): Promise<Filter> {
  if (key.name === DEFAULT_SERVICE) return {};
  const { document } = await readService(db, key);
  const { filter } = document as StoredService;
  const fault = filterFault(filter);
  if (fault !== undefined) throw invalid(`The stored filter is not valid. ${fault}`);
  return filter as Filter;
}
