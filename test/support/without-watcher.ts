import { eventually } from './eventually.js';
import type { TestService } from './service.js';

/** Does something while nobody watches, as if another instance led and were slow. */
export async function withoutWatcher(service: TestService, work: () => Promise<void>): Promise<void> {
  const leases = service.db.collection<{ _id: string }>('tidemark.leases');
  const elsewhere = { holder: 'elsewhere', expires: new Date('9999-01-01') };
  await leases.updateOne({ _id: 'watcher' }, { $set: elsewhere });
  await eventually(async () => (await service.metric('tidemark_watcher_leads')) === 0);
  try {
    await work();
  } finally {
    await leases.updateOne({ _id: 'watcher' }, { $set: { expires: new Date(0) } });
  }
}
