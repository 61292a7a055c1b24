import { type mongo, Schema, type Connection } from 'mongoose';
import type { Tenant, Kind } from '../../record/index.js';
import type { RestampReason } from '../protocol/index.js';

/** Documents of any form: other versions and other programs write them too. */
const stored = (collection: string) => ({ collection, strict: false, versionKey: false }) as const;

export const REVIEWS = 'tidemark.reviews';

/** The progress, of which collection of channels, and how far; done without `behind`. */
export interface Review {
  _id: 'channels';
  collection: string | null;
  behind?: mongo.ObjectId;
}

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

export const EMAIL_DUPLICATES = 'tidemark.emailduplicates';
export const EMAIL_DUPLICATE_MODEL = 'EmailDuplicate';

const emailDuplicateSchema = new Schema<EmailDuplicate>({}, stored(EMAIL_DUPLICATES)).index({
  organizationid: 1,
  appid: 1,
  emailkey: 1,
});

const EMAIL_HOLDERS = 'tidemark.emailholders';
export const EMAIL_HOLDER_MODEL = 'EmailHolder';

const emailHolderSchema = new Schema<StoredHolder>({}, stored(EMAIL_HOLDERS));

/** About how many members have an e-mail that another member has already. */
export function countEmailDuplicates(connection: Connection): Promise<number> {
  return connection.collection(EMAIL_DUPLICATES).estimatedDocumentCount();
}

/** The service whose filter was edited. Its kind is that of the collection. */
export interface EditedService extends Tenant {
  name: string;
}

/** Records, or ledger entries, that were stamped anew within a second, all for one reason: 1,000 at most. */
export interface RestampNote {
  _id: mongo.ObjectId;
  /** By the clock of the instance. */
  at: Date;
  reason: RestampReason;
  /** In which their `_id`s stand. */
  collection: string;
  ids: mongo.ObjectId[];
  /** False where some of them may have been found right, and left alone. */
  isCertain: boolean;
  service?: EditedService;
  /** When it is removed. */
  expires: Date;
}

/** A time, an hour at most, in which there were more re-stamps of a reason than are noted one by one. */
export interface RestampGap {
  /** Its hour and its reason, such as `2026-11-20T10 late`. A text, which tells it from a note. */
  _id: string;
  reason: RestampReason;
  from: Date;
  until: Date;
  /** The number of records that were not noted. */
  count: number;
  expires: Date;
}

export const RESTAMPS = 'tidemark.restamps';
const RESTAMP_MODEL = 'Restamp';

/** The notes in which an `_id` stands, by time; each document goes when its `expires` has come. */
const restampSchema = new Schema<RestampNote | RestampGap>({}, stored(RESTAMPS))
  .index({ ids: 1, at: 1 })
  .index({ expires: 1 }, { expireAfterSeconds: 0 });

/** How far the audit has come: the one document of `tidemark.audits`, so that a new leader goes on where the old one stopped. */
export interface AuditProgress {
  _id: typeof LEDGER_AUDIT;
  kind: Kind;
  /** `_id` of a record: everything up to it is done in this round. Nothing at the beginning of a kind. */
  behind: mongo.ObjectId | null;
  /** Slices done in this round. */
  slices: number;
  /** Number of the round. */
  round: number;
  /** When it began (database's clock). */
  started: Date;
  /** How long the last whole round took. */
  lastRoundSeconds: number | null;
  /** How long this one is going to take, as it looks now. */
  roundSeconds: number | null;
  /** What was ever found. */
  found: number;
}

export const LEDGER_AUDIT = 'ledger';

export const AUDITS = 'tidemark.audits';
export const AUDIT_MODEL = 'Audit';

const auditSchema = new Schema<AuditProgress>({ _id: String }, stored(AUDITS));

/** The models of the room. */
export const watcherModels = [
  { name: EMAIL_DUPLICATE_MODEL, schema: emailDuplicateSchema },
  { name: EMAIL_HOLDER_MODEL, schema: emailHolderSchema },
  { name: RESTAMP_MODEL, schema: restampSchema },
  { name: AUDIT_MODEL, schema: auditSchema },
];
