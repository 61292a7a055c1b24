import { Schema, type mongo } from 'mongoose';
import { type Kind, KINDS } from '../../record/index.js';

const MS = 1000;

/** How far the audit has come: the one document of `audits`, so that a new leader goes on where the old one stopped. */
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

/** What became of a slice. */
export interface SliceDone {
  /** Where it ends; nothing where it was the last of its kind. */
  end: mongo.ObjectId | undefined;
  found: number;
  /** About how many slices make a round. */
  expected: number;
  /** Database's clock. */
  clock: Date;
}

export const LEDGER_AUDIT = 'ledger';

/** Name of the Mongoose model of `audits`. */
export const AUDIT_MODEL = 'Audit';

export const auditSchema = new Schema<AuditProgress>(
  { _id: String },
  { collection: 'audits', strict: false, versionKey: false },
);

/** Before the very first slice. */
export function firstRound(clock: Date): AuditProgress {
  return {
    ...{ _id: LEDGER_AUDIT, kind: KINDS[0]!, behind: null, slices: 0, round: 1, started: clock },
    ...{ lastRoundSeconds: null, roundSeconds: null, found: 0 },
  };
}

/** Where the audit goes on: in the same kind, the next one, or the next round. */
export function afterSlice(
  progress: AuditProgress,
  { end, found, expected, clock }: SliceDone,
): AuditProgress {
  const seconds = Math.max(0, (clock.getTime() - progress.started.getTime()) / MS);
  const slices = progress.slices + 1;
  const roundSeconds = Math.round((seconds / slices) * Math.max(slices, expected));
  const done = { ...progress, slices, roundSeconds, found: progress.found + found, behind: end ?? null };
  if (end !== undefined) return done;
  const next = KINDS[KINDS.indexOf(progress.kind) + 1];
  if (next !== undefined) return { ...done, kind: next };
  const lastRoundSeconds = Math.round(seconds);
  return { ...done, kind: KINDS[0]!, slices: 0, round: progress.round + 1, started: clock, lastRoundSeconds };
}
