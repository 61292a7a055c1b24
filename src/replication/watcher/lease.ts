import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { Injectable } from '@nestjs/common';
import { InjectModel } from '@nestjs/mongoose';
import type { Model, mongo } from 'mongoose';
import { literal, within } from '../../common/index.js';
import { CLOCK, isDuplicateKey } from '../../database/index.js';
import { WATCH_STATE_MODEL, WATCHER, type WatchState } from '../progress/index.js';

/** A leader that does not renew for this long (milliseconds of the database's clock) has lost the lease. */
const LEASE_MS = 7000;
/** An answer about the lease that takes longer is of no use to anybody (milliseconds). */
const ANSWER_MS = 3000;
const EXTENDED = { $add: [CLOCK, LEASE_MS] };

/** What a leader may change of the state, always in its own term only. */
export type Advance = Partial<Pick<WatchState, 'token' | 'watched' | 'since' | 'pass'>>;

/**
 * Who leads the watcher: one instance at a time, by the database's clock (design §3, Lease). Every call throws a
 * DeadlineError where the database does not answer soon.
 */
@Injectable()
export class Lease {
  private readonly holder = `${hostname()}/${randomUUID()}`;

  constructor(@InjectModel(WATCH_STATE_MODEL) private readonly states: Model<WatchState>) {}

  /** The driver's view of the collection: these updates are pipelines that ask for the database's clock. */
  private get collection(): mongo.Collection<WatchState> {
    return this.states.collection as unknown as mongo.Collection<WatchState>;
  }

  /** Takes the lease where nobody holds it, in a new term; nothing where somebody does. */
  async acquire(): Promise<WatchState | undefined> {
    await soon(this.lay());
    const taken = await soon(
      this.collection.findOneAndUpdate(
        { _id: WATCHER, $expr: { $lte: ['$expires', CLOCK] } },
        [{ $set: { holder: literal(this.holder), term: { $add: ['$term', 1] }, expires: EXTENDED } }],
        { returnDocument: 'after' },
      ),
    );
    return taken ?? undefined;
  }

  /** Extends the lease; false where the term is over. */
  async renew(term: number): Promise<boolean> {
    return this.update(term, [{ $set: { expires: EXTENDED } }]);
  }

  /** Stores how far the log is worked through; false where the term is over. */
  async save(term: number, advance: Advance): Promise<boolean> {
    return this.update(term, { $set: advance });
  }

  /** The same at the end of a pass. */
  async saveEndOfPass(term: number, advance: Advance): Promise<boolean> {
    return this.update(term, { $set: advance, $unset: { pass: '' } });
  }

  /** Whether the document itself is gone, with all that it remembered. */
  async isGone(): Promise<boolean> {
    return (await soon(this.collection.countDocuments({ _id: WATCHER }, { limit: 1 }))) === 0;
  }

  /** Gives the lease up at once, so that another instance need not wait for it to end. */
  async release(term: number): Promise<void> {
    await this.update(term, { $set: { expires: new Date(0) } });
  }

  private async update(
    term: number,
    update: mongo.UpdateFilter<WatchState> | mongo.Document[],
  ): Promise<boolean> {
    const mine = { _id: WATCHER as typeof WATCHER, holder: this.holder, term };
    return (await soon(this.collection.updateOne(mine, update))).matchedCount === 1;
  }

  /** The document is made apart, since an upsert cannot ask for the clock. */
  private async lay(): Promise<void> {
    const none = { holder: '', term: 0, expires: new Date(0) };
    await this.collection
      .updateOne({ _id: WATCHER }, { $setOnInsert: none }, { upsert: true })
      .catch((error: unknown) => {
        if (!isDuplicateKey(error)) throw error;
      });
  }
}

function soon<T>(answer: Promise<T>): Promise<T> {
  return within(ANSWER_MS, 'The answer about the lease', answer);
}
