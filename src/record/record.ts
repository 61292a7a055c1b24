import { ObjectId } from 'bson';
import type { mongo, Types } from 'mongoose';
import { exactly } from '../platform/common/index.js';

/**
 * The bounds for scans along `_id`, which exclude values that are not ObjectIds. One is below and one is above every
 * `_id` that a driver generates.
 */
export const FIRST_ID = new ObjectId('0'.repeat(24));
export const LAST_ID = new ObjectId('f'.repeat(24));

const NOT_ARRAY = { $not: { $type: 'array' } };

/**
 * A query document for records that can be delivered. A record with a numeric `id` can be delivered only if the
 * ledger lists it under that `id`, so code that delivers records must check the ledger as well.
 *
 * Equality and comparison in MongoDB also match arrays that contain the value. A record with an array in place of
 * organization, application or `id` belongs to no application. One with an array in place of `lastupdated` is not
 * delivered until it is repaired (contract §4).
 */
export const DELIVERABLE = {
  organizationid: NOT_ARRAY,
  appid: NOT_ARRAY,
  lastupdated: NOT_ARRAY,
  $and: [{ id: { $type: ['string', 'number'] } }, { id: NOT_ARRAY }],
};

/**
 * The fields that are hidden from clients: the service's internal field, and password hashes. Feeds show the hashes if the
 * application's settings allow it.
 */
export const HIDDEN_FIELDS = ['emailkey', 'data.passwordhash'] as const;

/** The character that replaces invalid UTF-8 when text is decoded. */
const REPLACEMENT = '\uFFFD';

/** The index of records by their stamps. */
export const BY_STAMP = { organizationid: 1, appid: 1, lastupdated: 1, _id: 1 } as const;

/** The unique index of records by their `id`. It is partial: only strings are indexed. */
export const BY_RECORD_ID = { organizationid: 1, appid: 1, id: 1 } as const;

/** The unique index of members by their e-mail. */
export const BY_EMAIL_KEY = { organizationid: 1, appid: 1, emailkey: 1 } as const;

/** The key of an application. */
export interface Tenant {
  organizationid: string;
  appid: string;
}

/** A record as contract §4 specifies it. Other programs may have omitted or mistyped any field but `_id`. */
export interface RecordDocument extends Tenant {
  _id: Types.ObjectId;
  id: string;
  type: string;
  createDate: Date;
  createdBy: string;
  lastupdated: Date;
  data: mongo.Document;
  channels?: string[];
  /** Members only: the normalized e-mail, which is unique. A field of the service, outside of `data`. */
  emailkey?: string;
}

/**
 * The name of a value's BSON class, such as `Int32`, from any loaded copy of the class; undefined for other values. A
 * stored field `_bsontype` is an own property of its document, while the classes have it on their prototype.
 */
export function bsonTypeOf(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null || Object.hasOwn(value, '_bsontype')) return undefined;
  return (value as { _bsontype?: string })._bsontype;
}

/** Whether a value can be the `_id` of a record (contract §4). */
export function isObjectId(value: unknown): value is mongo.ObjectId {
  return bsonTypeOf(value) === 'ObjectId';
}

/**
 * Whether a text may have been stored as invalid UTF-8. No application has such a name (contract, `{org}` and
 * `{app}`).
 */
export function isUnreadable(text: unknown): boolean {
  return typeof text === 'string' && text.includes(REPLACEMENT);
}

/** The documents of an application. A document with an array in one of these fields belongs to no application. */
export function ofTenant({ organizationid, appid }: Tenant): mongo.Filter<mongo.Document> {
  return { organizationid: exactly(organizationid), appid: exactly(appid) };
}

/**
 * The records of an application with these ids. MongoDB can use the index of `id` only if the query states the type.
 */
export function withIds(tenant: Tenant, ids: string[]): mongo.Filter<mongo.Document> {
  return { ...ofTenant(tenant), $and: [{ id: { $in: ids, $type: 'string' } }, { id: NOT_ARRAY }] };
}
