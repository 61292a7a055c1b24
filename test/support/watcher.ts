import type { mongo } from 'mongoose';
import { RAISE } from '../../src/replication/mark/index.js';
import { isPreparing, type WatchProgress } from '../../src/replication/progress/index.js';
import { eventually } from './eventually.js';

/** The mark of nobody. */
export const PROBE = { organizationid: 'probe', appid: 'probe', kind: 'product' };

/** The watcher as a test sees it. */
export class TestWatcher {
  /** With how to wait until the instance has heard of what the watcher did. */
  constructor(
    private readonly db: mongo.Db,
    private readonly heard: () => Promise<void>,
  ) {}

  /**
   * Waits until everything written so far is worked through, with what the watcher has written on account of it, no
   * pass is under way, and the instance knows of it.
   */
  async caughtUp(): Promise<void> {
    await this.workedThrough();
    await this.workedThrough();
    await this.heard();
  }

  private async workedThrough(): Promise<void> {
    const { operationTime } = (await this.db.command({
      update: 'tidemark.marks',
      updates: [{ q: { _id: PROBE }, u: RAISE, upsert: true }],
      writeConcern: { w: 'majority' },
    })) as { operationTime: mongo.Timestamp };
    await eventually(async () => {
      const state = await this.db
        .collection<WatchProgress & { _id: string }>('tidemark.leases')
        .findOne({ _id: 'watcher' });
      if (state?.watched === undefined || isPreparing(state)) return false;
      return state.watched.compare(operationTime) >= 0;
    });
  }
}
