import type { mongo } from 'mongoose';
import { eventually } from './eventually.js';
import type { TestService } from './service.js';

/** A leader that does not renew its lease for seven seconds has lost it. */
const BETWEEN_RENEWALS_MS = 1000;
const HOLDER = { holder: 'elsewhere', expires: new Date('9999-01-01') };

/** Holds the lease as another instance that renews it and does nothing else. Answers how it is given up. */
export async function leadElsewhere(db: mongo.Db): Promise<() => Promise<void>> {
  const leases = db.collection<{ _id: string }>('tidemark.leases');
  const renewed = [{ $set: { expires: { $add: ['$expires', 1] } } }];
  await leases.updateOne({ _id: 'watcher' }, { $set: HOLDER });
  let renewing: Promise<unknown> = Promise.resolve();
  const held = { _id: 'watcher', holder: HOLDER.holder };
  const renew = () => leases.updateOne(held, renewed).catch(() => undefined);
  const timer = setInterval(() => {
    renewing = renew();
  }, BETWEEN_RENEWALS_MS);
  return async () => {
    clearInterval(timer);
    await renewing;
    await leases.updateOne(held, { $set: { expires: new Date(0) } });
  };
}

/** Does something while nobody watches, as if another instance led and were slow. */
export async function withoutWatcher(service: TestService, work: () => Promise<void>): Promise<void> {
  const giveUp = await leadElsewhere(service.db);
  try {
    await eventually(async () => (await service.metric('tidemark_watcher_leads')) === 0);
    await work();
  } finally {
    await giveUp();
  }
}
