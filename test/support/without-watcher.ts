import type { mongo } from 'mongoose';
import { Lease } from '../../src/replication/watcher/index.js';
import { eventually } from './eventually.js';
import type { TestService } from './service.js';

/** A leader that does not renew its lease for seven seconds has lost it. */
const BETWEEN_RENEWALS_MS = 1000;
const HOLDER = { holder: 'elsewhere', expires: new Date('9999-01-01') };

interface StoredLease {
  _id: string;
  holder: string;
  term: number;
  expires: Date;
}

/**
 * Holds the lease as another instance that renews it and does nothing else. An instance that has just taken the lease may
 * first begin its term: `hasBegun` answers whether it did. Answers how the lease is given up.
 */
export async function leadElsewhere(
  db: mongo.Db,
  hasBegun: () => Promise<boolean> = () => Promise.resolve(true),
): Promise<() => Promise<void>> {
  const leases = db.collection<StoredLease>('tidemark.leases');
  const renewed = [{ $set: { expires: { $add: ['$expires', 1] } } }];
  await eventually(async () => {
    const { holder = '', term = 0, expires = new Date(0) } = (await leases.findOne({ _id: 'watcher' })) ?? {};
    const isTaken = expires > new Date() && holder !== HOLDER.holder;
    if (isTaken && !(await hasBegun())) return false;
    const { matchedCount } = await leases.updateOne({ _id: 'watcher', holder, term }, { $set: HOLDER });
    return matchedCount === 1;
  });
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

/**
 * Lets the services find the lease taken, until the returned function is called. They would take a lease that they have not seen
 * renewed for seven seconds, and after the machine has stood still for that long, the first look may come before the renewal.
 */
function keepFollowing(services: TestService[]): () => void {
  const leases = services.map(({ app }) => app.get(Lease, { strict: false }));
  for (const lease of leases) lease.acquire = () => Promise.resolve(undefined);
  return () => leases.forEach((lease) => Reflect.deleteProperty(lease, 'acquire'));
}

/**
 * Does something while no instance watches, as if another instance led and were slow. The services are those that share the
 * database; each has heard of what was written before.
 */
export async function withoutWatcher(
  services: TestService | [TestService, ...TestService[]],
  work: () => Promise<void>,
): Promise<void> {
  const [first, ...others] = [services].flat() as [TestService, ...TestService[]];
  const leading = async () => {
    const all = await Promise.all([first, ...others].map((one) => one.metric('tidemark_watcher_leads')));
    return all.filter((leads) => leads === 1).length;
  };
  const giveUp = await leadElsewhere(first.db, async () => (await leading()) === 1);
  const letLead = keepFollowing([first, ...others]);
  try {
    await eventually(async () => (await leading()) === 0);
    for (const one of [first, ...others]) await one.heard();
    await work();
  } finally {
    letLead();
    await giveUp();
  }
}
