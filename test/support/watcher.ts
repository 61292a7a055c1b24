import { mongo } from 'mongoose';
import type { ControlStream } from '../../src/control/index.js';
import { RAISE } from '../../src/replication/mark/index.js';
import { isPreparing, type WatchedPlace, type WatchProgress } from '../../src/replication/progress/index.js';
import { eventually } from './eventually.js';

/** The mark of nobody. */
export const PROBE = { organizationid: 'probe', appid: 'probe', kind: 'product' };
const PATIENCE_MS = 100_000;

/** The watcher as a test sees it. */
export class TestWatcher {
  constructor(
    private readonly db: mongo.Db,
    private readonly place: WatchedPlace,
    private readonly control: ControlStream,
  ) {}

  /**
   * Waits until everything written so far is worked through, with what the watcher has written on account of it, no
   * pass is under way, and the instance knows of it.
   */
  async caughtUp(): Promise<void> {
    await this.workedThrough();
    const upTo = await this.workedThrough();
    await eventually(() => this.isShown());
    await this.heardUpTo(upTo);
  }

  /** Waits until the instance has heard of everything written so far; at once where it does not listen. */
  async heard(): Promise<void> {
    if (!this.control.isCurrent) return;
    const at = await this.written('tidemark.heads', { $inc: { probes: 1 } });
    await this.heardUpTo(at);
  }

  /** Answers when the mark was raised that the watcher has passed by now. */
  private async workedThrough(): Promise<mongo.Timestamp> {
    const at = await this.written('tidemark.marks', RAISE);
    const patience = AbortSignal.timeout(PATIENCE_MS);
    if (!(await this.place.reached(at, patience)))
      throw new Error(`The watcher has not passed a mark within ${PATIENCE_MS} ms`);
    return at;
  }

  /** Changes what is of no application, and answers when. */
  private async written(
    collection: string,
    change: mongo.Document | mongo.Document[],
  ): Promise<mongo.Timestamp> {
    const { operationTime } = await this.db.command({
      update: collection,
      updates: [{ q: { _id: PROBE }, u: change, upsert: true }],
      writeConcern: { w: 'majority' },
    });
    return operationTime as mongo.Timestamp;
  }

  private async isShown(): Promise<boolean> {
    const leases = this.db.collection<WatchProgress & { _id: string }>('tidemark.leases');
    const state = await leases.findOne({ _id: 'watcher' });
    return state?.watched !== undefined && !isPreparing(state);
  }

  /** Where an instance listens, it hears of the watcher's progress after all that the watcher has written before. */
  private heardUpTo(at: mongo.Timestamp): Promise<void> {
    const before = new mongo.Timestamp(at.toBigInt() - 1n);
    return eventually(() => !this.control.isCurrent || (this.control.heardUpTo?.compare(before) ?? 0) >= 0);
  }
}
