import type { mongo } from 'mongoose';
import { isPreparing, type Progress, RAISE } from '../../src/replication/mark/index.js';
import { eventually } from './eventually.js';

const PROBE = { organizationid: 'probe', appid: 'probe', kind: 'product' };

/** The watcher as a test sees it. */
export class TestWatcher {
  constructor(private readonly db: mongo.Db) {}

  /** Waits until everything written so far is worked through, and no pass is under way. */
  async caughtUp(): Promise<void> {
    const { operationTime } = (await this.db.command({
      update: 'marks',
      updates: [{ q: { _id: PROBE }, u: RAISE, upsert: true }],
      writeConcern: { w: 'majority' },
    })) as { operationTime: mongo.Timestamp };
    await eventually(async () => {
      const state = await this.db
        .collection<Progress & { _id: string }>('leases')
        .findOne({ _id: 'watcher' });
      if (state?.watched === undefined || isPreparing(state)) return false;
      return state.watched.compare(operationTime) >= 0;
    });
  }
}
