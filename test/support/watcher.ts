import { setTimeout as wait } from 'node:timers/promises';
import { mongo } from 'mongoose';
import type { ControlStream } from '../../src/platform/control/index.js';
import { RAISE, isPreparing, type WatchProgress } from '../../src/replication/protocol/index.js';
import type { WatchedPlace } from '../../src/replication/store/index.js';
import { eventually } from './eventually.js';

/** The mark of nobody. */
export const PROBE = { organizationid: 'probe', appid: 'probe', kind: 'product' };
const PATIENCE_MS = 100_000;
/** A test may keep an edited filter from being stamped: then its entry stays pending. */
const STAMPING_MS = 3000;

/** The watcher as a test sees it. */
export class TestWatcher {
  private readonly keptPending = new Set<string>();

  constructor(
    private readonly db: mongo.Db,
    private readonly place: WatchedPlace,
    private readonly control: ControlStream,
  ) {}

  /**
   * Waits until everything written so far is worked through, with what the watcher has written on account of it and the stamps
   * for edited filters, no pass is under way, and the instance knows of it.
   */
  async caughtUp(): Promise<void> {
    await this.workedThrough();
    await this.stamped();
    await this.workedThrough();
    await eventually(() => this.isShown());
    await this.heard();
  }

  /** Waits until the instance has heard of everything written so far; at once where it does not listen. */
  async heard(): Promise<void> {
    if (!this.control.isCurrent) return;
    const at = await this.written('tidemark.heads', { $inc: { probes: 1 } });
    await this.heardUpTo(at);
  }

  private async stamped(): Promise<void> {
    const entries = this.db.collection('tidemark.filterversions');
    const ends = performance.now() + STAMPING_MS;
    for (;;) {
      const pending = await entries.find({ pending: true }, { projection: { _id: 1 } }).toArray();
      const awaited = pending.map(({ _id }) => String(_id)).filter((id) => !this.keptPending.has(id));
      if (awaited.length === 0) return;
      if (performance.now() > ends) for (const id of awaited) this.keptPending.add(id);
      await wait(5);
    }
  }

  /** Answers when the mark was raised that the watcher has passed by now. */
  private async workedThrough(): Promise<mongo.Timestamp> {
    const at = await this.written('tidemark.marks', RAISE);
    const patience = AbortSignal.timeout(PATIENCE_MS);
    if (!(await this.place.reachedByAll(at, patience)))
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
