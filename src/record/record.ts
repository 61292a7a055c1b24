import { ObjectId } from 'bson';
import type { mongo, Types } from 'mongoose';
import { exactly } from '../common/index.js';

export const KINDS: readonly Kind[] = ['member', 'product'];

/** The collection of each kind (contract §4). */
export const COLLECTION_OF: Record<Kind, string> = { member: 'members', product: 'products' };

/** The bounds for walks along `_id`, which leave out what is not an ObjectId: below every `_id` that a driver makes, and above. */
export const FIRST_ID = new ObjectId('0'.repeat(24));
export const LAST_ID = new ObjectId('f'.repeat(24));

const NO_LIST = { $not: { $type: 'array' } };

/**
 * A query document for records that can be delivered. Of those whose `id` is a number only the ones that the ledger knows
 * under it are: whoever delivers records looks there as well. Equality and comparison in MongoDB also find lists that hold the
 * value; a list in place of organization, application or `id` is not a string, so such a record belongs to nobody, and one
 * in place of `lastupdated` is not a date, so such a record waits until it is repaired (contract §4).
 */
export const DELIVERABLE = {
  organizationid: NO_LIST,
  appid: NO_LIST,
  lastupdated: NO_LIST,
  $and: [{ id: { $type: ['string', 'number'] } }, { id: NO_LIST }],
};

/**
 * The fields of a record that no answer shows: what the service keeps for itself, and password hashes. Feeds show hashes
 * where an application's settings say so, and nothing else does.
 */
export const HIDDEN_FIELDS = ['emailkey', 'data.passwordhash'] as const;

/** What stands for bytes that are not UTF-8 once they are read. */
const REPLACEMENT = '\uFFFD';

/** The unique index of records by their `id`. It holds texts only. */
export const BY_RECORD_ID = { organizationid: 1, appid: 1, id: 1 } as const;

/** The unique index of members by their e-mail. */
export const BY_EMAIL_KEY = { organizationid: 1, appid: 1, emailkey: 1 } as const;

export type Kind = 'member' | 'product';

/** Every query carries both. */
export interface Tenant {
  organizationid: string;
  appid: string;
}

/** A record as contract §4 wants it. Other programs may have left out or mistyped anything but `_id`. */
export interface RecordDocument extends Tenant {
  _id: Types.ObjectId;
  id: string;
  type: string;
  createDate: Date;
  createdBy: string;
  lastupdated: Date;
  data: mongo.Document;
  channels?: string[];
  /** Members only: the e-mail in the form in which it is unique. Of the service, beside `data`. */
  emailkey?: string;
}

/**
 * The name of the BSON class that a value is of, such as `Int32`, whichever copy of the class it is; nothing for what is
 * of none. A stored field named `_bsontype` is its document's own, while classes have theirs on the prototype.
 */
export function bsonTypeOf(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null || Object.hasOwn(value, '_bsontype')) return undefined;
  return (value as { _bsontype?: string })._bsontype;
}

/** Whether a value can be the `_id` of a record (contract §4). */
export function isObjectId(value: unknown): value is mongo.ObjectId {
  return bsonTypeOf(value) === 'ObjectId';
}

/** Whether a text may be no UTF-8 where it is stored. No application has such a name (contract, `{org}` and `{app}`). */
export function isUnreadable(text: unknown): boolean {
  return typeof text === 'string' && text.includes(REPLACEMENT);
}

/** The documents of an application. A document with a list in one of these fields belongs to no application. */
export function ofTenant({ organizationid, appid }: Tenant): mongo.Filter<mongo.Document> {
  return { organizationid: exactly(organizationid), appid: exactly(appid) };
}

/** The records of an application with these ids. Only with the type named can MongoDB use the index of `id`. */
export function withIds(tenant: Tenant, ids: string[]): mongo.Filter<mongo.Document> {
  return { ...ofTenant(tenant), $and: [{ id: { $in: ids, $type: 'string' } }, { id: NO_LIST }] };
}
