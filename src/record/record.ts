import { ObjectId } from 'bson';
import type { mongo, Types } from 'mongoose';

export type Kind = 'member' | 'product';

export const KINDS: readonly Kind[] = ['member', 'product'];

/** The collection of each kind (contract §4). */
export const COLLECTION_OF: Record<Kind, string> = { member: 'members', product: 'products' };

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

/** The bounds for walks along `_id`, which leave out what is not an ObjectId: below every `_id` that a driver makes, and above. */
export const FIRST_ID = new ObjectId('0'.repeat(24));
export const LAST_ID = new ObjectId('f'.repeat(24));
