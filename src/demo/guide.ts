import type { mongo } from 'mongoose';
import { demoCredentials } from './credentials.js';
import { DEMO, makeDemo } from './demo.js';
import { demoLines } from './lines.js';

/** The demo, once the watcher is at work: made where it is not there yet, and the lines to paste. */
export async function demo(
  db: mongo.Db,
  at: { dataDir: string; baseUrl: string; docs: boolean; max: () => Promise<Date> },
): Promise<string[]> {
  await makeDemo(db);
  const credentials = await demoCredentials(db, at.dataDir, DEMO);
  const [, second] = await db
    .collection('products')
    .find({ ...DEMO }, { sort: { _id: 1 }, limit: 2 })
    .toArray();
  const offset = (await at.max()).toISOString();
  return demoLines({ ...at, credentials, offset, secondProduct: second?._id.toHexString() ?? '' });
}
