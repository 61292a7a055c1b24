import { Injectable, Logger } from '@nestjs/common';
import { InjectConnection } from '@nestjs/mongoose';
import type { Connection, mongo } from 'mongoose';
import { LEDGER } from '../../ledger/index.js';
import { type Batch, HistoryLostError, isAhead, openStream, type Opening } from '../../log/index.js';
import type { Fences } from '../../mark/index.js';
import { TermOverError, type WatchState, WorkedThrough } from '../../progress/index.js';
import { Batches } from '../batches.js';
import type { EventsByTenant } from '../rules/shares.js';
import { type Advance, Lease } from '../lease.js';
import { MEMORY } from '../memory.js';
import type { Term } from './term.js';

/** An announcement reaches its own place in the log, and what comes next only what is before it. */
export function furthest(one: mongo.Timestamp | undefined, other: mongo.Timestamp): mongo.Timestamp {
  return one !== undefined && one.compare(other) > 0 ? one : other;
}

/** A collection was dropped or renamed, and only a pass over everything can find out what that means. */
export class CollectionLostError extends HistoryLostError {}

/** What a term does with a stream, whether a pass is under way beside it or not. */
@Injectable()
export class StreamWork {
  private readonly log = new Logger('Watcher');

  constructor(
    @InjectConnection() private readonly connection: Connection,
    private readonly lease: Lease,
    private readonly batches: Batches,
    private readonly workedThrough: WorkedThrough,
  ) {}

  open(
    term: Term,
    startAfter: unknown,
    options: Pick<Opening, 'longestWait'> = {},
  ): AsyncGenerator<Batch, void> {
    const { client, stop } = term;
    const opening = { db: client.db(this.connection.name), memory: MEMORY, startAfter, ...options };
    return openStream({ client, term, stop }, opening);
  }

  /** The fences are brought up to date. Throws where a collection is gone that the service cannot do without. */
  async workThrough(term: Term, { events }: Pick<Batch, 'events'>, fences: Fences): Promise<EventsByTenant> {
    const counts = await this.batches.workThrough(events, fences, term);
    const lost = events.find((event) => event.type === 'collectionLost');
    if (lost === undefined) return counts;
    if (lost.collection === LEDGER)
      this.log.error(
        'The ledger is gone, with the hard deletes that consumers have not read: they have to start over without from ' +
          '(docs/guarantees.md)',
      );
    throw new CollectionLostError(`${lost.what} of ${lost.collection}`);
  }

  /** Throws a TermOverError where another instance leads by now. */
  async save({ state }: Term, advance: Advance): Promise<void> {
    if (!(await this.lease.save(state.term, advance))) throw new TermOverError();
  }

  /** Saves that a pass has ended, in the same way. */
  async saveEndOfPass(
    { state }: Term,
    ended: Pick<WatchState, 'token' | 'watched' | 'since' | 'aside'>,
  ): Promise<void> {
    if (!(await this.lease.saveEndOfPass(state.term, ended))) throw new TermOverError();
  }

  /** A token from the future comes from another log, such as one before a restore: MongoDB itself would wait for it. */
  async assertPast(token: unknown): Promise<void> {
    if (isAhead(token, await this.presentTime()))
      throw new HistoryLostError('the resume token lies in the future of the log');
  }

  /** Where the log is now, everything written so far included. */
  async presentTime(): Promise<mongo.Timestamp> {
    const { at } = await this.workedThrough.now();
    return at;
  }
}
