import { mongo } from 'mongoose';
import { type Actor, type Deed, trailEntry, writeTrail } from '../trail/index.js';

/** Where somebody changes the configuration: the database, who it is, and for how long that is remembered (days). */
export interface Desk {
  db: mongo.Db;
  actor: Actor;
  auditTrailDays: number;
}

/** Writes down what was done, before whoever did it is told so. */
export function noteDeed({ db, actor, auditTrailDays }: Desk, deed: Deed): Promise<void> {
  return writeTrail(db, [trailEntry(actor, deed, auditTrailDays)]);
}
