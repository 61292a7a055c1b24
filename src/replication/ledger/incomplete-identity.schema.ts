import { mongo, Schema } from 'mongoose';
import type { Kind } from '../../record/index.js';
import type { PartialIdentity } from './identity.js';

/**
 * A record that has no ledger entry, since its organization, application or `id` is not a string; or since its `id` is a number
 * and another record is known under the text of it: a rival, whose identity is whole.
 */
export interface IncompleteIdentity extends PartialIdentity {
  _id: IncompleteKey;
}

/**
 * A record and the application in which something of it is known, `null` where that is unknown: what is known in one application
 * is not for another one to overwrite or to forget. Without them it was written by an earlier version.
 */
export interface IncompleteKey {
  kind: Kind;
  owner: mongo.ObjectId;
  organizationid?: string | null;
  appid?: string | null;
}

/** Name of the collection. */
export const INCOMPLETE_IDENTITIES = 'tidemark.incompleteidentities';

/** Name of the Mongoose model of `tidemark.incompleteidentities`. */
export const INCOMPLETE_IDENTITY_MODEL = 'IncompleteIdentity';

export const incompleteIdentitySchema = new Schema<IncompleteIdentity>(
  { _id: Object },
  { collection: INCOMPLETE_IDENTITIES, strict: false, versionKey: false },
)
  .index(
    { '_id.kind': 1, organizationid: 1, appid: 1, id: 1, '_id.owner': 1 },
    { partialFilterExpression: { isNumber: true } },
  )
  .index({ '_id.kind': 1, '_id.owner': 1 });
