import { Injectable, Logger } from '@nestjs/common';
import { InjectConnection, InjectModel } from '@nestjs/mongoose';
import type { Connection, Model, mongo } from 'mongoose';
import { IndexKeeper } from '../../database/index.js';
import { FilterReconciler } from '../filters/index.js';
import { Ledger, LEDGER } from '../ledger/index.js';
import {
  asLongAsWorkedOn,
  type Batch,
  HistoryLostError,
  INDEX_BUILDS,
  isAhead,
  type Opening,
  openStream,
  Reader,
} from '../log/index.js';
import { type Fences, type Mark, MARK_MODEL, readFences } from '../mark/index.js';
import {
  type PassProgress,
  placeBehind,
  showLife,
  TermOverError,
  type WatchState,
} from '../progress/index.js';
import { IgnoredRecords } from '../repair/index.js';
import { Batches } from './batches.js';
import { Jobs } from './jobs.js';
import { type Advance, Lease } from './lease.js';
import { MEMORY } from './memory.js';
import { Orphans } from './orphans.js';
import { Pass } from './pass/pass.js';

const RENEW_MS = 2000;
/** A change of `services` is an event; this is for an older wish that an overtaken leader wrote down too late. */
const RECONCILE_MS = 20_000;

/** A pass looks for what is new in between and shall not wait for it (milliseconds). */
const PASS_WAIT_MS = 50;

/** What one term of a leader is about. */
export interface Term {
  client: mongo.MongoClient;
  state: WatchState;
  stop: AbortSignal;
}

/** Where a stream begins, and what has to be worked through before feeds may show anything. */
interface Start {
  token: unknown;
  since: mongo.Timestamp | undefined;
}

/** What a leader does for as long as its term lasts: go on from the token, or begin with a pass. */
@Injectable()
export class Leadership {
  private readonly log = new Logger('Watcher');

  constructor(
    @InjectConnection() private readonly connection: Connection,
    @InjectModel(MARK_MODEL) private readonly marks: Model<Mark>,
    private readonly lease: Lease,
    private readonly ledger: Ledger,
    private readonly batches: Batches,
    private readonly filters: FilterReconciler,
    private readonly ignored: IgnoredRecords,
    private readonly pass: Pass,
    private readonly upkeep: Jobs,
    private readonly orphans: Orphans,
    private readonly indexes: IndexKeeper,
  ) {}

  /** Ends when `stop` is aborted, or throws: TermOverError, or what the database threw. */
  async lead(term: Term): Promise<void> {
    await this.orphans.end();
    const over = new AbortController();
    const kept = this.upkeep.run(AbortSignal.any([term.stop, over.signal]));
    try {
      await this.go(term);
    } finally {
      over.abort();
      await kept;
      this.ignored.reset();
    }
  }

  private async go(term: Term): Promise<void> {
    const { since, token, pass } = term.state;
    let start: Start | undefined = since && token && !pass ? { token, since } : undefined;
    let reason = pass?.reason ?? (since === undefined ? 'first start' : 'no token');
    while (!term.stop.aborted) {
      try {
        if (start === undefined) start = await this.begin(term, reason);
        else await this.resume(start);
        return start && (await this.follow(term, start));
      } catch (error) {
        if (!(error instanceof HistoryLostError)) throw error;
        this.log.error(error.message);
        delete term.state.pass?.reached;
        reason = error.message;
        start = undefined;
      }
    }
  }

  private async resume({ token }: Start): Promise<void> {
    this.assertPast(token, await this.presentTime());
    await this.filters.reconcile();
  }

  /** A token from the future comes from another log, such as one before a restore: MongoDB itself would wait for it. */
  private assertPast(token: unknown, now: mongo.Timestamp): void {
    if (isAhead(token, now)) throw new HistoryLostError('the resume token lies in the future of the log');
  }

  /**
   * Opens the new stream, or the one of a pass that was cut off, then passes over everything, working through the stream
   * all the while: what it tells overrides what the pass learns. From the first write on feeds answer 503 `preparing`,
   * until the stream has come to the end of the pass. Nothing where the term was stopped.
   */
  private async begin(term: Term, reason: string): Promise<Start | undefined> {
    const { client, state, stop } = term;
    const progress = await this.pass.prepare(reason, await this.isRepair(state), state.pass);
    const { reached } = progress;
    if (reached !== undefined) this.assertPast(reached.token, await this.presentTime());
    await this.save(state.term, { pass: progress });
    const stream = openStream(
      client,
      { ...this.opening(client, reached?.token), longestWait: PASS_WAIT_MS },
      stop,
    );
    try {
      const reader = new Reader(stream);
      const opening = await reader.next();
      await asLongAsWorkedOn({ client, shownAs: INDEX_BUILDS, stop }, () => this.indexes.keep()).catch(
        (error: unknown) => {
          this.indexes.leaveBehind();
          throw error;
        },
      );
      const fences = await readFences(this.marks);
      await this.workThrough(opening, fences);
      const keepUp = () => {
        showLife();
        return reader.keepUp((batch) => this.workThrough(batch, fences));
      };
      const tell = (pass: PassProgress) => this.save(state.term, { pass });
      const token = () => reader.last.token;
      await this.pass.run({
        at: reached?.at ?? placeBehind(opening.until),
        progress,
        stop,
        tell,
        keepUp,
        token,
      });
      await this.filters.reconcile();
      if (stop.aborted) return undefined;
      return await this.endPass(term, reader.last);
    } finally {
      await stream.return();
    }
  }

  private async endPass(term: Term, { token, until }: Batch): Promise<Start> {
    const since = await this.presentTime();
    const ended = await this.lease.saveEndOfPass(term.state.term, { token, watched: until, since });
    if (!ended) throw new TermOverError();
    term.state = { ...term.state, token, watched: until, since };
    delete term.state.pass;
    return { token, since };
  }

  /** On the first start there is no fence yet, so nothing can have been missed; later everything can. */
  private async isRepair({ pass, since }: WatchState): Promise<boolean> {
    if (pass !== undefined) return pass.isRepair;
    return since !== undefined || (await this.marks.exists({})) !== null || this.ledger.isBegun();
  }

  private async follow(term: Term, { token, since }: Start): Promise<void> {
    const fences = await readFences(this.marks);
    let savedAt = performance.now();
    let reconciledAt = performance.now();
    let awaited = since;
    let watched = term.state.watched;
    const keepIndexes = async () => {
      const since = await this.keepIndexes(term);
      if (since !== undefined) awaited = since;
    };
    for await (const batch of openStream(term.client, this.opening(term.client, token), term.stop)) {
      const hasCome = awaited !== undefined && batch.until.compare(awaited) >= 0;
      if (hasCome) awaited = undefined;
      showLife();
      if (performance.now() - reconciledAt > RECONCILE_MS) {
        void keepIndexes();
        await this.filters.reconcile();
        reconciledAt = performance.now();
      }
      if (batch.events.length > 0) await this.workThrough(batch, fences);
      else if (!hasCome && performance.now() - savedAt <= RENEW_MS) continue;
      watched = later(watched, batch.until);
      await this.save(term.state.term, { token: batch.token, watched });
      savedAt = performance.now();
    }
  }

  /** Beside the stream, since it takes minutes: answers where `since` has moved to, behind the indexes that it made. */
  private async keepIndexes({ state }: Term): Promise<mongo.Timestamp | undefined> {
    try {
      if (!(await this.indexes.keep())) return undefined;
      const since = await this.presentTime();
      await this.save(state.term, { since });
      return since;
    } catch (error) {
      this.log.warn(`The indexes cannot be looked at: ${(error as Error).message}`);
      return undefined;
    }
  }

  private async workThrough(batch: Batch, fences: Fences): Promise<void> {
    await this.batches.workThrough(batch.events, fences);
    const upheaval = batch.events.find((event) => event.type === 'upheaval');
    if (upheaval === undefined) return;
    if (upheaval.collection === LEDGER)
      this.log.error(
        'The ledger is gone, with the hard deletes that consumers have not read: they have to start over without from ' +
          '(docs/guarantees.md)',
      );
    throw new HistoryLostError(`${upheaval.what} of ${upheaval.collection}`);
  }

  private async save(term: number, advance: Advance): Promise<void> {
    if (!(await this.lease.save(term, advance))) throw new TermOverError();
  }

  /** Where the log is now, everything written so far included. */
  private async presentTime(): Promise<mongo.Timestamp> {
    const { operationTime } = await this.connection.db!.command({ ping: 1 });
    return operationTime as mongo.Timestamp;
  }

  private opening(client: mongo.MongoClient, startAfter: unknown): Opening {
    return { db: client.db(this.connection.name), memory: MEMORY, startAfter };
  }
}

/** An announcement reaches its own place in the log, and what comes next only what is before it. */
function later(one: mongo.Timestamp | undefined, other: mongo.Timestamp): mongo.Timestamp {
  return one !== undefined && one.compare(other) > 0 ? one : other;
}
