import { type mongo, Schema, type Connection } from 'mongoose';
import type { Tenant } from '../../record/index.js';

/** A member whose e-mail another member of the application has already; its `_id` is the member's. */
export interface EmailDuplicate extends Tenant {
  _id: mongo.ObjectId;
  emailkey: string;
  /** Another one each time that it is noted. Absent in a document of an earlier version. */
  noted?: mongo.ObjectId;
}

/**
 * A key that others want, too, with the `_id` of the member that has it. Without it nothing tells what that gives up. `noted` as of a
 * duplicate.
 */
export type EmailHolder = EmailDuplicate;

/** The e-mail of an application. */
export type EmailKey = Omit<EmailDuplicate, '_id' | 'noted'>;

/**
 * The keys that others want of a member, by its `_id`: more than one while it gives one up for another. A document of an
 * earlier version has a single one, in its own fields.
 */
export interface StoredHolder extends Partial<EmailKey> {
  _id: mongo.ObjectId;
  wanted?: Omit<EmailHolder, '_id'>[];
}

/** Whether two e-mails are one: in another application the same text is another e-mail. */
export function isSameKey(
  one: Omit<EmailKey, 'emailkey'> & { emailkey: string | null },
  other: EmailKey,
): boolean {
  return (
    one.organizationid === other.organizationid &&
    one.appid === other.appid &&
    one.emailkey === other.emailkey
  );
}

/** Name of the collection. */
export const EMAIL_DUPLICATES = 'tidemark.emailduplicates';

/** Name of the Mongoose model of `tidemark.emailduplicates`. */
export const EMAIL_DUPLICATE_MODEL = 'EmailDuplicate';

export const emailDuplicateSchema = new Schema<EmailDuplicate>(
  {},
  { collection: EMAIL_DUPLICATES, strict: false, versionKey: false },
).index({ organizationid: 1, appid: 1, emailkey: 1 });

/** Name of the collection. */
export const EMAIL_HOLDERS = 'tidemark.emailholders';

/** Name of the Mongoose model of `emailholders`. */
export const EMAIL_HOLDER_MODEL = 'EmailHolder';

export const emailHolderSchema = new Schema<StoredHolder>(
  {},
  { collection: EMAIL_HOLDERS, strict: false, versionKey: false },
);

/** The models of the room. */
export const repairModels = [
  { name: EMAIL_DUPLICATE_MODEL, schema: emailDuplicateSchema },
  { name: EMAIL_HOLDER_MODEL, schema: emailHolderSchema },
];

/** About how many members have an e-mail that another member has already. */
export function countEmailDuplicates(connection: Connection): Promise<number> {
  return connection.collection(EMAIL_DUPLICATES).estimatedDocumentCount();
}
