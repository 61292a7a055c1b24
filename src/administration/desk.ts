import type { mongo } from 'mongoose';
import type { FilterTurn } from './filter-trial.js';
import { type Actor, type Deed, trailEntry, writeTrail } from '../trail/plain.js';

/** Changes that are recorded by one command, so that other requests are served in between. */
const PORTION = 1000;

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
  for (let first = 0; first < deeds.length; first += PORTION) {
    const portion = deeds.slice(first, first + PORTION);
    await writeTrail(
      db,
      portion.map((deed) => trailEntry(actor, deed, auditTrailDays)),
      session,
    );
  }
}
