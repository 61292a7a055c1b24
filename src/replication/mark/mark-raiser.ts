import { setMaxListeners } from 'node:events';
import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import { InjectConnection, InjectModel } from '@nestjs/mongoose';
import type { Connection, Model, mongo } from 'mongoose';
import { bareCommand, COMMAND_MS, placedReply } from '../../database/index.js';
import { WatchedPlace } from '../progress/index.js';
import { type Mark, type MarkKey, markKey, markName } from './mark.js';
import { MARK_MODEL, RAISE } from './mark.schema.js';

/** A raise that this instance has not seen passed yet: its place in the log, once it is written. */
type Raise = Promise<mongo.Timestamp>;

interface Refused {
  errmsg: string;
}

/**
 * Raises marks, one raise in flight for each (design §3, Max): shared by all callers, and none again until the watcher
 * has passed it. A consumer that polls while records are being stamped anew would else make them late again and again.
 */
@Injectable()
export class MarkRaiser implements OnModuleDestroy {
  private readonly inFlight = new Map<string, Raise>();
  private readonly stop = new AbortController();

  constructor(
    @InjectConnection() private readonly connection: Connection,
    @InjectModel(MARK_MODEL) private readonly marks: Model<Mark>,
    private readonly watched: WatchedPlace,
  ) {
    setMaxListeners(Infinity, this.stop.signal);
  }

  onModuleDestroy(): void {
    this.stop.abort();
  }

  /**
   * Waits until the watcher has passed a raise that began after this call, for so many milliseconds at most; false
   * where it has not by then. Throws where the mark cannot be raised.
   */
  async passed(mark: MarkKey, withinMs: number): Promise<boolean> {
    const left = new AbortController();
    const leave = () => left.abort();
    const timer = setTimeout(leave, withinMs);
    this.stop.signal.addEventListener('abort', leave, { once: true });
    try {
      return await this.passedBefore(mark, left.signal);
    } finally {
      clearTimeout(timer);
      this.stop.signal.removeEventListener('abort', leave);
    }
  }

  private async passedBefore(mark: MarkKey, left: AbortSignal): Promise<boolean> {
    const name = markName(mark);
    const begun = this.inFlight.get(name);
    if (begun !== undefined && !(await this.isOver(mark, begun, left).catch(() => !left.aborted)))
      return false;
    return this.isOver(mark, this.inFlight.get(name) ?? this.begin(name, mark), left);
  }

  /** One that is left by all who wait for it is still in flight: whoever comes next sees whether it is passed. */
  private async isOver(mark: MarkKey, raise: Raise, left: AbortSignal): Promise<boolean> {
    const at = await unlessLeft(raise, left);
    const isReached = at !== undefined && (await this.watched.reached(at, left, mark));
    const name = markName(mark);
    if (isReached && this.inFlight.get(name) === raise) this.inFlight.delete(name);
    return isReached;
  }

  private begin(name: string, mark: MarkKey): Raise {
    const placed = placedReply('a raise', () => this.write(mark), {
      within: COMMAND_MS,
      stop: this.stop.signal,
    });
    const raise = placed.then(({ at }) => at);
    this.inFlight.set(name, raise);
    raise.catch(() => this.inFlight.delete(name));
    return raise;
  }

  /** One majority write; its place in the log is the moment. The bare command tells the place. */
  private async write(mark: MarkKey): Promise<mongo.Document> {
    const command = {
      update: this.marks.collection.collectionName,
      updates: [{ q: { _id: markKey(mark) }, u: RAISE, upsert: true }],
      writeConcern: { w: 'majority', wtimeout: COMMAND_MS },
    };
    const reply = await bareCommand(this.connection.db!, command, { within: COMMAND_MS });
    const refused = [reply['writeErrors'], reply['writeConcernError']] as (Refused | Refused[] | undefined)[];
    const refusal = refused.flat().find((one) => one !== undefined);
    if (refusal !== undefined) throw new Error(`The mark cannot be raised: ${refusal.errmsg}`);
    return reply;
  }
}

/** What the promise gives; nothing where `left` is aborted before. */
function unlessLeft<T>(promise: Promise<T>, left: AbortSignal): Promise<T | undefined> {
  return new Promise((resolve, reject) => {
    left.addEventListener('abort', () => resolve(undefined), { once: true });
    promise.then(resolve, reject);
  });
}
