import { hostname } from 'node:os';
import { setTimeout as wait } from 'node:timers/promises';
import type { mongo } from 'mongoose';
import { applicationExists, listApplications } from '../administration/index.js';
import { databaseProblem } from '../database/index.js';
import { Problem } from '../http/index.js';
import { COLLECTION_OF } from '../record/index.js';
import { demoCredentials } from './credentials.js';
import { DEMO, makeDemo } from './demo.js';
import { demoLines } from './lines.js';

const UNAVAILABLE = 503;
const PAUSE_MS = 50;

/** What the demo needs to know of the running service; `max` answers the offset of the demo's products. */
export interface DemoPlace {
  dataDir: string;
  auditTrailDays: number;
  baseUrl: string;
  docs: boolean;
  console: boolean;
  max: () => Promise<Date>;
}

/**
 * The demo, once the watcher is at work: made where there is no application yet, and the lines to paste. No lines where
 * other applications have taken its place. Whoever waits for it has time: where the database is away meanwhile, or the
 * watcher has much to catch up on, it is gone through again.
 */
export async function demo(db: mongo.Db, place: DemoPlace): Promise<string[]> {
  for (;;) {
    try {
      return await makeAndShow(db, place);
    } catch (error) {
      const problem = error instanceof Problem ? error : databaseProblem(error);
      if (problem?.status !== UNAVAILABLE) throw error;
      await wait(PAUSE_MS);
    }
  }
}

/** The application is made last, so that everything is made again where this was cut off. */
async function makeAndShow(db: mongo.Db, place: DemoPlace): Promise<string[]> {
  const isFirstStart = !(await applicationExists(db, DEMO));
  if (isFirstStart && (await listApplications(db)).length > 0) return [];
  const actor = { who: 'demo', via: 'command', from: hostname() } as const;
  const desk = { db, actor, auditTrailDays: place.auditTrailDays };
  const credentials = await demoCredentials(desk, { dataDir: place.dataDir, tenant: DEMO, isFirstStart });
  if (isFirstStart) await makeDemo(desk);
  const [, second] = await db
    .collection(COLLECTION_OF.product)
    .find({ ...DEMO }, { sort: { _id: 1 }, limit: 2 })
    .toArray();
  const offset = (await place.max()).toISOString();
  return demoLines({ ...place, credentials, offset, secondProduct: second?._id.toHexString() ?? '' });
}
