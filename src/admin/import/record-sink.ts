import type { mongo } from 'mongoose';
import { shown } from '../../common/index.js';
import { isDuplicateKey } from '../../database/plain.js';
import type { Kind } from '../../record/index.js';
import type { RecordLine } from './batches.js';

/** What a batch has come to. */
export interface WriteOutcome {
  created: number;
  changed: number;
  /** Lines that are refused, and why. */
  refused: { number: number; reason: string }[];
}

/** Where lines go. */
export interface RecordSink {
  /** Takes lines of different ids. Throws only where the database is away. */
  write(lines: RecordLine[]): Promise<WriteOutcome>;
}

export const EMAIL_TAKEN = 'another member has this e-mail already';

/** Why a record is left alone that has a name twice. */
export function whyDoubled(kind: Kind, name: string): string {
  return (
    `the stored ${kind} has "${shown(name)}" more than once. Have the program that wrote it store it once, ` +
    'or delete the record first (record delete)'
  );
}

/** Why the database does not take a line. */
export function refusalOf(error: unknown): string {
  if (isDuplicateKey(error) && isEmailConflict(error)) return EMAIL_TAKEN;
  return `the database refuses it: ${(error as Error).message.replace(/^PlanExecutor error.*? :: caused by :: /, '')}`;
}

export function isEmailConflict(error: mongo.MongoServerError): boolean {
  return 'emailkey' in ((error.keyPattern ?? {}) as object);
}
