import { until } from '../machine/until.mjs';

const LONGEST_MS = 30 * 60_000;

/**
 * Waits until the watcher has worked through all that was written so far. A server on which nothing is written tells a stream
 * how far it is each ten seconds only: so something is.
 */
export async function settled(db) {
  const { operationTime } = await db.client
    .db('admin')
    .command({ appendOplogNote: 1, data: { bench: 'settled' } });
  const hasCome = async () => {
    const lease = await db.collection('tidemark.leases').findOne({ _id: 'watcher' });
    return (lease?.watched?.compare(operationTime) ?? -1) >= 0;
  };
  await until(hasCome, { what: 'the watcher', within: LONGEST_MS });
}
