import type { mongo } from 'mongoose';
import { eventually } from './eventually.js';

/** The watcher as a test sees it. */
export class TestWatcher {
  constructor(private readonly db: mongo.Db) {}

  /** Waits until everything written so far is worked through. */
  async caughtUp(): Promise<void> {
    const probe = { organizationid: 'probe', appid: 'probe', id: 'probe' };
    const written = (await this.db.command({
      update: 'products',
      updates: [
        {
          q: probe,
          u: [{ $set: { lastupdated: '$$NOW', n: { $add: [{ $ifNull: ['$n', 0] }, 1] } } }],
          upsert: true,
        },
      ],
      writeConcern: { w: 'majority' },
    })) as { operationTime: mongo.Timestamp };
    await eventually(async () => {
      const state = await this.db
        .collection<{ _id: string; watched?: mongo.Timestamp }>('leases')
        .findOne({ _id: 'watcher' });
      return state?.watched !== undefined && state.watched.compare(written.operationTime) >= 0;
    });
  }
}
