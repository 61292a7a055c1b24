import { setTimeout as wait } from 'node:timers/promises';
import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import { InjectConnection, InjectModel } from '@nestjs/mongoose';
import type { Connection, Model, mongo } from 'mongoose';
import { MARK_MODEL, type Mark, type MarkKey, markKey, markName, RAISE } from './mark.js';
import { WATCH_STATE_MODEL, WATCHER, type WatchState } from './watch-state.js';

const FIRST_LOOK_MS = 2;
const LONGEST_LOOK_MS = 100;
const SLOWER = 1.3;

/**
 * Raises marks, one raise in flight for each (design §3, Max): shared by all callers, and none again until the watcher
 * has passed it. A consumer that polls while records are being stamped anew would else make them late again and again.
 */
@Injectable()
export class Raises implements OnModuleDestroy {
  private readonly inFlight = new Map<string, Promise<void>>();
  private readonly stop = new AbortController();

  constructor(
    @InjectConnection() private readonly connection: Connection,
    @InjectModel(MARK_MODEL) private readonly marks: Model<Mark>,
    @InjectModel(WATCH_STATE_MODEL) private readonly states: Model<WatchState>,
  ) {}

  onModuleDestroy(): void {
    this.stop.abort();
  }

  /**
   * Waits until the watcher has passed a raise that began after this call, for so many milliseconds at most; false
   * where it has not by then.
   */
  async passed(mark: MarkKey, withinMs: number): Promise<boolean> {
    const tooLate = new AbortController();
    const given = wait(withinMs, false, { signal: tooLate.signal }).catch(() => false);
    const begunBefore = this.inFlight.get(markName(mark));
    const both = (async () => {
      await begunBefore?.catch(() => undefined);
      if (!tooLate.signal.aborted) await this.raise(mark);
      return true;
    })();
    return Promise.race([both, given]).finally(() => tooLate.abort());
  }

  private raise(mark: MarkKey): Promise<void> {
    const name = markName(mark);
    const running = this.inFlight.get(name);
    if (running !== undefined) return running;
    const raise = this.run(mark).finally(() => this.inFlight.delete(name));
    raise.catch(() => undefined);
    this.inFlight.set(name, raise);
    return raise;
  }

  private async run(mark: MarkKey): Promise<void> {
    const at = await this.write(mark);
    for (let ms = FIRST_LOOK_MS; !this.stop.signal.aborted; ms = Math.min(ms * SLOWER, LONGEST_LOOK_MS)) {
      await wait(ms, undefined, { signal: this.stop.signal }).catch(() => undefined);
      const watched = await this.watched().catch(() => undefined);
      if (watched !== undefined && watched.compare(at) >= 0) return;
    }
  }

  /** One majority write; its place in the log is the moment. The bare command tells the place. */
  private async write(mark: MarkKey): Promise<mongo.Timestamp> {
    const reply = await this.connection.db!.command({
      update: this.marks.collection.collectionName,
      updates: [{ q: { _id: markKey(mark) }, u: RAISE, upsert: true }],
      writeConcern: { w: 'majority' },
    });
    const refusal = (reply['writeErrors'] as { errmsg: string }[] | undefined)?.[0];
    if (refusal !== undefined) throw new Error(`The mark cannot be raised: ${refusal.errmsg}`);
    return reply['operationTime'] as mongo.Timestamp;
  }

  private async watched(): Promise<mongo.Timestamp | undefined> {
    const state = await this.states.findOne({ _id: WATCHER }, { watched: 1 }).lean();
    return state?.watched;
  }
}
