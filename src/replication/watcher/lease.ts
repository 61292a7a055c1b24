import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { Injectable } from '@nestjs/common';
import { InjectModel } from '@nestjs/mongoose';
import type { Model, mongo } from 'mongoose';
import { literal, within } from '../../common/index.js';
import { CLOCK, isDuplicateKey } from '../../database/index.js';
import { WATCH_STATE_MODEL, WATCHER, type WatchState } from '../progress/index.js';

/** A leader that does not renew for this long has lost the lease (milliseconds). */
const LEASE_MS = 7000;
/** An answer about the lease that takes longer is of no use to anybody (milliseconds). */
const ANSWER_MS = 3000;
/** Every renewal changes it, also where the database's clock stands still: by that the others see that there is a leader. */
const EXTENDED = { $max: [{ $add: [CLOCK, LEASE_MS] }, { $add: ['$expires', 1] }] };

/** What a leader may change of the state, always in its own term only. */
export type Advance = Partial<Pick<WatchState, 'token' | 'watched' | 'since' | 'pass'>>;

/** The lease as it was when this instance saw it change last, by its own clock (milliseconds). */
interface LastSeen extends Pick<WatchState, 'term' | 'expires'> {
  at: number;
}

/**
 * Who leads the watcher: one instance at a time (design §3, Lease). A lease is free when the database's clock has passed its
 * end, or when it has not changed for as long as it lasts: that clock may have been ahead and stand still. Every call throws a
 * DeadlineError where the database does not answer soon.
 */
@Injectable()
export class Lease {
  private readonly holder = `${hostname()}/${randomUUID()}`;
  private seen: LastSeen | undefined;

  constructor(@InjectModel(WATCH_STATE_MODEL) private readonly states: Model<WatchState>) {}

  /** The driver's view of the collection: these updates are pipelines that ask for the database's clock. */
  private get collection(): mongo.Collection<WatchState> {
    return this.states.collection as unknown as mongo.Collection<WatchState>;
  }

  /** Takes the lease where nobody holds it, in a new term; nothing where somebody does. */
  async acquire(): Promise<WatchState | undefined> {
    await soon(this.lay());
    const unchanged = await this.unchanged();
    const isFree = { $expr: { $lte: ['$expires', CLOCK] } };
    const taken = await soon(
      this.collection.findOneAndUpdate(
        { _id: WATCHER, $or: [isFree, ...(unchanged === undefined ? [] : [unchanged])] },
        [
          {
            $set: {
              holder: literal(this.holder),
              term: { $add: ['$term', 1] },
              expires: { $add: [CLOCK, LEASE_MS] },
            },
          },
        ],
        { returnDocument: 'after' },
      ),
    );
    return taken ?? undefined;
  }

  /** The lease, where nobody has renewed it for as long as it lasts. */
  private async unchanged(): Promise<Pick<WatchState, 'term' | 'expires'> | undefined> {
    const projection = { _id: 0, term: 1, expires: 1 };
    const found = await soon(this.collection.findOne({ _id: WATCHER }, { projection }));
    if (found === null) return undefined;
    const { term, expires } = found;
    const now = performance.now();
    if (this.seen?.term !== term || Number(this.seen.expires) !== Number(expires))
      this.seen = { term, expires, at: now };
    return now - this.seen.at > LEASE_MS ? { term, expires } : undefined;
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
