import type { mongo } from 'mongoose';
import { KINDS } from '../../record/index.js';
import { type AuditProgress, LEDGER_AUDIT } from './audit-progress.schema.js';

const MS = 1000;

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
