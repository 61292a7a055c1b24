import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { Injectable } from '@nestjs/common';
import { InjectConnection, InjectModel } from '@nestjs/mongoose';
import type { Connection, Model, mongo } from 'mongoose';
import { literal, within } from '../../platform/common/index.js';
import { CLOCK } from '../../platform/database/index.js';
import { createLease, STORAGE_FORMATS, WATCH_STATE_MODEL } from '../store/index.js';
import { WATCHER, type WatchState } from '../protocol/index.js';

/** A leader that does not renew for this long has lost the lease (milliseconds). */
const LEASE_MS = 7000;
/** Longest wait for an answer about the lease (milliseconds). */
const ANSWER_MS = 3000;
/** Every renewal changes the expiry, even while the database's clock does not advance: that shows others a live leader. */
const EXTENDED = { $max: [{ $add: [CLOCK, LEASE_MS] }, { $add: ['$expires', 1] }] };

/** An instance does not lead if the storage format in force is newer than those that it knows. */
const KNOWN_FORMAT = { format: { $not: { $gt: STORAGE_FORMATS.newest } } };

/** The part of the state that a leader may change, only in its own term. */
export type Advance = Partial<
  Pick<WatchState, 'token' | 'watched' | 'since' | 'pass' | 'pace' | 'aside' | 'kinds'>
>;

/** The lease as this instance last saw it change, and the time of that by its own clock (milliseconds). */
interface LastSeen extends Pick<WatchState, 'term' | 'expires'> {
  at: number;
}

/**
 * Elects the instance that leads the watcher, one at a time (design §3, Lease). A lease is free once the database's clock
 * has passed its expiry, or once it has stayed unchanged for its whole duration. The second condition is needed because a
 * database clock that was ahead does not advance for a while after it is corrected. Every call throws a DeadlineError if the
 * database does not answer soon.
 */
@Injectable()
export class Lease {
  private readonly holder = `${hostname()}/${randomUUID()}`;
  private seen: LastSeen | undefined;

  constructor(
    @InjectModel(WATCH_STATE_MODEL) private readonly states: Model<WatchState>,
    @InjectConnection() private readonly connection: Connection,
  ) {}

  /** The driver's own collection, because the updates here are pipelines, which read the database's clock. */
  private get collection(): mongo.Collection<WatchState> {
    return this.states.collection as unknown as mongo.Collection<WatchState>;
  }

  /** Takes a free lease in a new term; undefined if it is not free, or if the storage format in force is too new. */
  async acquire(): Promise<WatchState | undefined> {
    const projection = { _id: 0, term: 1, expires: 1 };
    const found = await soon(this.collection.findOne({ _id: WATCHER }, { projection }));
    if (found === null) await soon(createLease(this.connection));
    const unchanged = found === null ? undefined : this.unchanged(found);
    const isFree = { $expr: { $lte: ['$expires', CLOCK] } };
    const taken = await soon(
      this.collection.findOneAndUpdate(
        { _id: WATCHER, ...KNOWN_FORMAT, $or: [isFree, ...(unchanged === undefined ? [] : [unchanged])] },
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

  /** Matches the lease as it was found, if this instance has seen no renewal for its whole duration. */
  private unchanged({
    term,
    expires,
  }: Pick<WatchState, 'term' | 'expires'>): mongo.Filter<WatchState> | undefined {
    const now = performance.now();
    if (this.seen?.term !== term || Number(this.seen.expires) !== Number(expires))
      this.seen = { term, expires, at: now };
    return now - this.seen.at > LEASE_MS ? { term, expires } : undefined;
  }

  /** Extends the lease; false if the term is over. */
  async renew(term: number): Promise<boolean> {
    return this.update(term, [{ $set: { expires: EXTENDED } }]);
  }

  /** Stores progress of the leader; false if the term is over. */
  async save(term: number, advance: Advance): Promise<boolean> {
    return this.update(term, { $set: advance });
  }

  /** Like {@link save}, at the end of a pass: also removes the progress of the pass. */
  async saveEndOfPass(term: number, advance: Advance): Promise<boolean> {
    return this.update(term, { $set: advance, $unset: { pass: '' } });
  }

  /** Whether the lease document no longer exists. */
  async isGone(): Promise<boolean> {
    return (await soon(this.collection.countDocuments({ _id: WATCHER }, { limit: 1 }))) === 0;
  }

  /** Releases the lease at once, so that another instance need not wait for it to expire. */
  async release(term: number): Promise<void> {
    await this.update(term, { $set: { expires: new Date(0) } });
  }

  private async update(
    term: number,
    update: mongo.UpdateFilter<WatchState> | mongo.Document[],
  ): Promise<boolean> {
    const mine = { _id: WATCHER as typeof WATCHER, holder: this.holder, term, ...KNOWN_FORMAT };
    return (await soon(this.collection.updateOne(mine, update))).matchedCount === 1;
  }
}

function soon<T>(answer: Promise<T>): Promise<T> {
  return within(ANSWER_MS, 'The answer about the lease', answer);
}
