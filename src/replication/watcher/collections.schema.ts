import { type mongo, Schema, type Connection } from 'mongoose';
import type { Tenant } from '../../record/index.js';
import type { Kind } from '../../kinds/index.js';
import type { RestampReason } from '../protocol/index.js';

/** Not strict: other versions and other programs also write these documents. */
const stored = (collection: string) => ({ collection, strict: false, versionKey: false }) as const;

export const REVIEWS = 'tidemark.reviews';

/**
 * Progress of the channel review: the id of the channel collection, and the `_id` of the last product that was read. A
 * finished review has no `behind`.
 */
export interface Review {
  _id: 'channels';
  collection: string | null;
  behind?: mongo.ObjectId;
}

/** A member whose e-mail is already taken by another member of the application. `_id` is that of the waiting member. */
export interface EmailDuplicate extends Tenant {
  _id: mongo.ObjectId;
  emailkey: string;
  /** A new value each time the duplicate is noted. Absent in documents of an earlier version. */
  noted?: mongo.ObjectId;
}

/**
 * A key that other members want, with the `_id` of the member that holds it. Once the e-mail of that member has
 * changed, only this document shows which key the member released. `noted` is as in {@link EmailDuplicate}.
 */
export type EmailHolder = EmailDuplicate;

/** An e-mail key of an application. */
export type EmailKey = Omit<EmailDuplicate, '_id' | 'noted'>;

/**
 * The keys that other members want from one member, by its `_id`: more than one while the member changes from one
 * wanted key to another. A document of an earlier version has a single key, in its own fields.
 */
export interface StoredHolder extends Partial<EmailKey> {
  _id: mongo.ObjectId;
  wanted?: Omit<EmailHolder, '_id'>[];
}

/** Whether two e-mail keys are equal. The same text in another application is a different key. */
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

export const EMAIL_HOLDERS = 'tidemark.emailholders';
export const EMAIL_HOLDER_MODEL = 'EmailHolder';

const emailHolderSchema = new Schema<StoredHolder>({}, stored(EMAIL_HOLDERS));

/** Approximate number of members whose e-mail is already taken by another member. */
export function countEmailDuplicates(connection: Connection): Promise<number> {
  return connection.collection(EMAIL_DUPLICATES).estimatedDocumentCount();
}

/** The service whose filter or fields were edited. Its kind is that of the collection. */
export interface EditedService extends Tenant {
  name: string;
}

/** Up to 1,000 records or ledger entries that were re-stamped within one second for the same reason. */
export interface RestampNote {
  _id: mongo.ObjectId;
  /** By the clock of the instance. */
  at: Date;
  reason: RestampReason;
  /** The collection that contains the `ids`. */
  collection: string;
  ids: mongo.ObjectId[];
  /** False if some of them may have had a good stamp already and were not changed. */
  isCertain: boolean;
  service?: EditedService;
  /** Time of removal. */
  expires: Date;
}

/**
 * A period of at most one hour in which not all re-stamps with the same reason were noted, because there were too many.
 */
export interface RestampGap {
  /** Hour and reason, such as `2026-11-20T10 late`. A string, unlike the `_id` of a note. */
  _id: string;
  reason: RestampReason;
  from: Date;
  until: Date;
  /** The number of re-stamps of records and ledger entries that were not noted. */
  count: number;
  expires: Date;
}

export const RESTAMPS = 'tidemark.restamps';
const RESTAMP_MODEL = 'Restamp';

/**
 * The first index serves queries for notes by the `_id` of a document and by time. MongoDB removes each note at its
 * `expires`.
 */
const restampSchema = new Schema<RestampNote | RestampGap>({}, stored(RESTAMPS))
  .index({ ids: 1, at: 1 })
  .index({ expires: 1 }, { expireAfterSeconds: 0 });

/** Progress of the audit: the only document of `tidemark.audits`. A new leader resumes from it. */
export interface AuditProgress {
  _id: typeof LEDGER_AUDIT;
  kind: Kind;
  /** The `_id` of the last record that was checked in this round; `null` at the start of a kind. */
  behind: mongo.ObjectId | null;
  /** Slices done in this round. */
  slices: number;
  /** The current round, counted from the first one; it survives a change of the leader. */
  round: number;
  /** When it began (database's clock). */
  started: Date;
  /** Duration of the last complete round. */
  lastRoundSeconds: number | null;
  /** Estimated duration of this round. */
  roundSeconds: number | null;
  /** Total number of faults found. */
  found: number;
}

export const LEDGER_AUDIT = 'ledger';

export const AUDITS = 'tidemark.audits';
export const AUDIT_MODEL = 'Audit';

const auditSchema = new Schema<AuditProgress>({ _id: String }, stored(AUDITS));

/** The models that both the service and the commands register, so that their indexes are created. */
export const watcherModels = [
  { name: EMAIL_DUPLICATE_MODEL, schema: emailDuplicateSchema },
  { name: EMAIL_HOLDER_MODEL, schema: emailHolderSchema },
  { name: RESTAMP_MODEL, schema: restampSchema },
  { name: AUDIT_MODEL, schema: auditSchema },
];
