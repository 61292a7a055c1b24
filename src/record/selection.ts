import type { mongo } from 'mongoose';
import { exactly } from '../common/index.js';
import type { Tenant } from './record.js';

const NO_LIST = { $not: { $type: 'array' } };

/** The documents of an application. A document with a list in one of these fields belongs to no application. */
export function ofTenant({ organizationid, appid }: Tenant): mongo.Filter<mongo.Document> {
  return { organizationid: exactly(organizationid), appid: exactly(appid) };
}

/** The records of an application with these ids. Only with the type named can MongoDB use the index of `id`. */
export function withIds(tenant: Tenant, ids: string[]): mongo.Filter<mongo.Document> {
  return { ...ofTenant(tenant), $and: [{ id: { $in: ids, $type: 'string' } }, { id: NO_LIST }] };
}
