import { type TestApplication, withoutWatcher } from '../support/index.js';

/**
 * Batches grow with each other: the watcher reads 1, 2, 4, 8, 16 and 32 events, and with the next batch of 64 all that
 * follows.
 */
const SMALL_BATCHES = 75;

/** What the watcher finds in one batch of the log. */
export function inOneBatch(
  { service, organizationid }: TestApplication,
  work: () => Promise<void>,
): Promise<void> {
  return withoutWatcher(service, async () => {
    const filler = { organizationid, appid: 'filler' };
    await service.db
      .collection('products')
      .insertMany(Array.from({ length: SMALL_BATCHES }, (_, n) => ({ ...filler, id: `f${n}` })));
    await work();
  });
}
