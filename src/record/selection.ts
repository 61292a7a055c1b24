import type { mongo } from 'mongoose';
import { exactly } from '../common/index.js';
import type { Tenant } from './record.js';

/** The unique index of records by their `id`. It holds texts only. */
export const BY_RECORD_ID = { organizationid: 1, appid: 1, id: 1 } as const;

/** The unique index of members by their e-mail. */
export const BY_EMAIL_KEY = { organizationid: 1, appid: 1, emailkey: 1 } as const;

const NO_LIST = { $not: { $type: 'array' } };

/** The documents of an application. A document with a list in one of these fields belongs to no application. */
export function ofTenant({ organizationid, appid }: Tenant): mongo.Filter<mongo.Document> {
  return { organizationid: exactly(organizationid), appid: exactly(appid) };
}

/** The records of an application with these ids. Only with the type named can MongoDB use the index of `id`. */
export function withIds(tenant: Tenant, ids: string[]): mongo.Filter<mongo.Document> {
  return { ...ofTenant(tenant), $and: [{ id: { $in: ids, $type: 'string' } }, { id: NO_LIST }] };
}
