import { setTimeout as wait } from 'node:timers/promises';
import type { mongo } from 'mongoose';
import { applicationExists, listApplications } from '../admin/index.js';
import { Problem } from '../common/index.js';
import { demoCredentials } from './credentials.js';
import { DEMO, makeDemo } from './demo.js';
import { demoLines } from './lines.js';

const UNAVAILABLE = 503;
const PAUSE_MS = 50;

/**
 * The demo, once the watcher is at work: made where there is no application yet, and the lines to paste. No lines where
 * other applications have taken its place.
 */
export async function demo(
  db: mongo.Db,
  at: { dataDir: string; baseUrl: string; docs: boolean; max: () => Promise<Date> },
): Promise<string[]> {
  const isFirstStart = !(await applicationExists(db, DEMO));
  if (isFirstStart && (await listApplications(db)).length > 0) return [];
  if (isFirstStart) await makeDemo(db);
  const credentials = await demoCredentials(db, { dataDir: at.dataDir, tenant: DEMO, isFirstStart });
  const [, second] = await db
    .collection('products')
    .find({ ...DEMO }, { sort: { _id: 1 }, limit: 2 })
    .toArray();
  const offset = (await patiently(at.max)).toISOString();
  return demoLines({ ...at, credentials, offset, secondProduct: second?._id.toHexString() ?? '' });
}

/** After a restart the watcher may have much to catch up on; who waits for the demo has time. */
async function patiently<T>(ask: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof Problem) || error.status !== UNAVAILABLE) throw error;
      await wait(PAUSE_MS);
    }
  }
}
