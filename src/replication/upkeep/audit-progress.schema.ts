import { type mongo, Schema } from 'mongoose';
import type { Kind } from '../../record/index.js';

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

/** Name of the collection. */
export const AUDITS = 'tidemark.audits';

/** Name of the Mongoose model of `tidemark.audits`. */
export const AUDIT_MODEL = 'Audit';

export const auditSchema = new Schema<AuditProgress>(
  { _id: String },
  { collection: AUDITS, strict: false, versionKey: false },
);

/** The models of the room. */
export const upkeepModels = [{ name: AUDIT_MODEL, schema: auditSchema }];
