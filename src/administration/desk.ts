import type { mongo } from 'mongoose';
import type { FilterTurn } from './filter-trial.js';
import { type Actor, type Deed, trailEntry, writeTrail } from '../trail/plain.js';

/** Where somebody changes the configuration: the database, who it is, and for how long that is remembered (days). */
export interface Desk {
  db: mongo.Db;
  actor: Actor;
  auditTrailDays: number;
  /** When filters may be tried there; without it, at once. */
  turn?: FilterTurn;
}

/** Records a change in the audit trail before its caller gets the answer. */
export function noteDeed(desk: Desk, deed: Deed): Promise<void> {
  return noteDeeds(desk, [deed]);
}

/** The same for several, in a transaction where one is given. */
export async function noteDeeds(
  { db, actor, auditTrailDays }: Desk,
  deeds: Deed[],
  session?: mongo.ClientSession,
): Promise<void> {
  const entries = deeds.map((deed) => trailEntry(actor, deed, auditTrailDays));
  if (entries.length > 0) await writeTrail(db, entries, session);
}
