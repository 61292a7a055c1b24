import { Injectable } from '@nestjs/common';
import { InjectConnection } from '@nestjs/mongoose';
import type { Connection, mongo } from 'mongoose';
import { Tempo, type Work, differingIn } from '../../protocol/index.js';
import { DeadlineError, forAtMost, pause, within as endsWithin } from '../../../platform/common/index.js';
import { isTimeout } from '../../../platform/database/index.js';
import { RecordsHeldError, recordsIn, type Tenant } from '../../../record/index.js';
import { type Restamped, Restamps } from '../stamping/restamps.js';
import {
  inRange,
  nextRange,
  RANGE_MS,
  walk,
  type ReadVersion,
  type TermAtWork,
  TermOverError,
  WatchedPlace,
  WorkedThrough,
  FilterVersions,
  Quarantine,
} from '../../store/index.js';
import { isOfDatabase } from './wanted-services.js';

/**
 * Reports from time to time how many records were examined for an edited filter, and how many there are to examine. A
 * short stamping ends before its first report.
 */
export class StampingProgress {
  /** Records of the ranges that are done. */
  private done = 0;
  private total: number | undefined;
  private isCounted = false;
  private savedAt = performance.now();
  private readonly tempo = new Tempo({ at: this.savedAt, done: 0 });

  constructor(
    /** Counts the records of the application and kind; undefined if the server cannot do so in time. */
    private readonly count: () => Promise<number | undefined>,
    private readonly save: (work: Partial<Work>) => Promise<void>,
    /** Shortest time between two reports (milliseconds). */
    private readonly saveMs: number,
  ) {}

  /** A range is done. */
  async advance(records: number): Promise<void> {
    await this.within(records);
    this.done += records;
  }

  /** This many records of the current range are done. */
  async within(records: number): Promise<void> {
    const at = performance.now();
    if (at - this.savedAt < this.saveMs) return;
    this.savedAt = at;
    const done = Math.floor(this.done + records);
    const pace = this.tempo.measure({ at, done });
    if (!this.isCounted) {
      // Counted only once: if the server cannot count the records in time now, it cannot do so later either.
      this.isCounted = true;
      this.total = await this.count();
    }
    await this.save({ done, pace, ...(this.total !== undefined && { total: this.total }) });
  }
}

/**
 * How long to wait after the server's own time limit for a range has passed (milliseconds). The server may exceed it,
 * because it does not interrupt a regular expression while it is matched with a single text.
 */
const SPARE_MS = 2000;
/** Number of stamps after which the stream has to catch up. Each stamp is an event that delays all applications. */
const AT_ONCE = 1000;
/**
 * Number of records that may each take too long to judge. With more, the others are not judged either: each costs the
 * time limit twice, and the stampings of other services would wait for days.
 */
const MOST_TOO_SLOW = 20;
/** Longest wait for the stream to catch up (milliseconds). Limited, because the stream's next batch may take long. */
const LONGEST_WAIT_MS = 5000;
/**
 * Longest wait for records that another program's transaction holds, and the pause between two attempts (milliseconds).
 * A server ends a transaction after a minute by default.
 */
const LONGEST_HELD_MS = 120_000;
const BETWEEN_ATTEMPTS_MS = 2000;
/** How often the progress of a stamping is stored (milliseconds). */
const SAVE_MS = 2000;

/** The term of a stamping, and the signal that ends the stamping. */
export interface StampingTerm {
  term: TermAtWork;
  stop: AbortSignal;
}

/**
 * Re-stamps the records that the current and the previous filter of a service judge differently, and those that its
 * current and previous fields show differently. This runs beside the stream, no faster than the stream processes the
 * stamps.
 */
@Injectable()
export class EditedRecords {
  /** Time limit for MongoDB to evaluate both filters on a range of records (milliseconds). */
  private readonly judgingMs = RANGE_MS;
  private readonly saveMs = SAVE_MS;
  private readonly longestHeldMs = LONGEST_HELD_MS;
  private readonly betweenAttemptsMs = BETWEEN_ATTEMPTS_MS;

  constructor(
    @InjectConnection() private readonly connection: Connection,
    private readonly restamps: Restamps,
    private readonly workedThrough: WorkedThrough,
    private readonly watched: WatchedPlace,
    private readonly entries: FilterVersions,
    private readonly quarantine: Quarantine,
  ) {}

  /**
   * Re-stamps the records that differ. If one of the filters cannot be read, if MongoDB rejects one, if MongoDB does not
   * stop at its time limit, or if too many records take too long to judge, all remaining records of the application and
   * kind are stamped. A single record that takes too long to judge is stamped without being judged. Throws a
   * TermOverError if `stop` is aborted first.
   */
  async restamp(entry: ReadVersion, { term, stop }: StampingTerm): Promise<Restamped> {
    const { organizationid, appid, kind, name, filter, previous, fields, previousFields } = entry;
    const service = { organizationid, appid, name };
    let differing =
      filter && previous && (differingIn({ filter, previous, fields, previousFields }) ?? { $nor: [{}] });
    const done: Restamped = { stamped: 0, setAside: 0 };
    let since: { stamps: number; place: mongo.Timestamp } | undefined;
    let tooSlow = 0;
    const collection = recordsIn(this.connection, kind);
    const way = { key: '_id', among: { organizationid, appid } };
    const progress = this.progressOf(entry, term);
    await walk(undefined, {
      next: (behind, most) => nextRange(collection, way, { behind, most, maxTimeMS: RANGE_MS }),
      work: async (range) => {
        const within = { organizationid, appid, _id: inRange(range) };
        const ids = await this.idsOf(collection, { $and: [within, differing ?? {}] }).catch(
          (error: unknown) => {
            const isTooSlowAlone = isTimeout(error) && range.count === 1;
            const isStuck = error instanceof DeadlineError && differing !== undefined;
            if (isOfDatabase(error) && !isTooSlowAlone && !isStuck) throw error;
            term.showLife();
            if (isTooSlowAlone) tooSlow += 1;
            if (!isTooSlowAlone || tooSlow > MOST_TOO_SLOW) differing = undefined;
            return this.idsOf(collection, within);
          },
        );
        for (let first = 0; first < ids.length; first += AT_ONCE) {
          term.showLife();
          const some = ids.slice(first, first + AT_ONCE);
          if (since === undefined || since.stamps + some.length > AT_ONCE)
            since = { stamps: 0, place: await this.onceReached(service, since?.place, stop) };
          const { stamped, setAside } = await this.stamp(entry, some, { term, stop });
          since.stamps += stamped;
          done.stamped += stamped;
          done.setAside += setAside;
          await progress.within((range.count * (first + some.length)) / ids.length);
        }
      },
      advance: ({ count }) => progress.advance(count),
      leave: (_stretch, error) => Promise.reject(error),
      stop,
      term,
    });
    if (stop.aborted) throw new TermOverError();
    return done;
  }

  /**
   * Re-stamps some records. Waits for those that another program's transaction holds, because after a failure the
   * stamping would begin again with the first record. Those that are held for too long are set aside.
   */
  private async stamp(entry: ReadVersion, ids: mongo.ObjectId[], during: StampingTerm): Promise<Restamped> {
    const { organizationid, appid, kind, name } = entry;
    const { term, stop } = during;
    const until = performance.now() + this.longestHeldMs;
    for (let left = ids; ;) {
      try {
        const service = { organizationid, appid, name };
        const { stamped, setAside } = await this.restamps.records(kind, left, 'filter', term, service);
        return { stamped: stamped + ids.length - left.length, setAside };
      } catch (error) {
        if (!(error instanceof RecordsHeldError)) throw error;
        left = error.ids;
        const concerns = left.map((owner) => ({ what: 'record' as const, kind, owner }));
        const { message: reason } = error;
        if (performance.now() >= until) {
          await this.quarantine.setAsideRefused(
            concerns.map((concern) => ({ concern, what: 'stamp', reason })),
          );
          return { stamped: ids.length - left.length, setAside: left.length };
        }
      }
      term.showLife();
      await pause(this.betweenAttemptsMs, stop);
      if (stop.aborted) throw new TermOverError();
    }
  }

  /** A report that fails does not affect the stamping. Counting the records may take as long as one range. */
  private progressOf(entry: ReadVersion, term: TermAtWork): StampingProgress {
    const { organizationid, appid, kind } = entry;
    const records = recordsIn(this.connection, kind);
    return new StampingProgress(
      () =>
        records
          .countDocuments({ organizationid, appid }, { maxTimeMS: RANGE_MS })
          .catch(() => undefined)
          .finally(() => term.showLife()),
      (work) => this.entries.saveProgress(entry, work).catch(() => undefined),
      this.saveMs,
    );
  }

  /** Waits, for a limited time, until the watcher has passed a place for an application. Returns the end of the log. */
  private async onceReached(
    tenant: Tenant,
    place: mongo.Timestamp | undefined,
    stop: AbortSignal,
  ): Promise<mongo.Timestamp> {
    if (place !== undefined)
      await forAtMost(LONGEST_WAIT_MS, stop, (signal) => this.watched.reached(place, signal, tenant));
    if (stop.aborted) throw new TermOverError();
    return (await this.workedThrough.now()).at;
  }

  /**
   * Reads without a hint: after a drop of the collection, the index is missing until the watcher has processed the
   * drop, and a query with a hint would fail until then.
   */
  private async idsOf(collection: mongo.Collection, query: mongo.Document): Promise<mongo.ObjectId[]> {
    const options = { projection: { _id: 1 }, sort: { _id: 1 }, maxTimeMS: this.judgingMs } as const;
    const asked = collection.find<{ _id: mongo.ObjectId }>(query, options).toArray();
    const found = await endsWithin(this.judgingMs + SPARE_MS, 'Judging records', asked);
    return found.map(({ _id }) => _id);
  }
}
