import type { mongo } from 'mongoose';
import type { Tenant } from '../record/index.js';

/** MongoDB finds a text also in a list that holds it, but a record with a list in such a place belongs to nobody. */
const NO_LIST = { $not: { $type: 'array' } };

/** The records of an application. */
export function ofTenant({ organizationid, appid }: Tenant): mongo.Filter<mongo.Document> {
  return { organizationid: { $eq: organizationid, ...NO_LIST }, appid: { $eq: appid, ...NO_LIST } };
}

/** The records of an application with these ids. Only with the type named can MongoDB use the index of `id`. */
export function withIds(tenant: Tenant, ids: string[]): mongo.Filter<mongo.Document> {
  return { ...ofTenant(tenant), $and: [{ id: { $in: ids, $type: 'string' } }, { id: NO_LIST }] };
}
