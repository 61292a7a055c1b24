import { Injectable } from '@nestjs/common';
import { InjectConnection } from '@nestjs/mongoose';
import type { Connection, mongo } from 'mongoose';
import { Tempo, type Work, judgedDifferently } from '../../protocol/index.js';
import { DeadlineError, endsAfter, within as endsWithin } from '../../../common/index.js';
import { isTimeout } from '../../../database/index.js';
import { COLLECTION_OF, type Tenant } from '../../../record/index.js';
import { type Restamped, Restamps } from '../stamping/restamps.js';
import {
  inStretch,
  nextStretch,
  STRETCH_MS,
  walk,
  type ReadVersion,
  type TermAtWork,
  TermOverError,
  WatchedPlace,
  WorkedThrough,
  FilterVersions,
} from '../../store/index.js';
import { isOfDatabase } from './taken-filters.js';

/** Tells at times how many records were looked through for an edited filter, of how many. A stamping that is over sooner tells nothing. */
export class StampingProgress {
  /** Records of the stretches that are done. */
  private done = 0;
  private total: number | undefined;
  private isCounted = false;
  private toldAt = performance.now();
  private readonly tempo = new Tempo({ at: this.toldAt, done: 0 });

  constructor(
    /** Counts the records of the application and kind; undefined where the server cannot say it in time. */
    private readonly count: () => Promise<number | undefined>,
    private readonly tell: (work: Partial<Work>) => Promise<void>,
    /** The least time between two tells (milliseconds). */
    private readonly tellMs: number,
  ) {}

  /** A stretch is done. */
  async advance(records: number): Promise<void> {
    await this.within(records);
    this.done += records;
  }

  /** So many records of the stretch under way are done. */
  async within(records: number): Promise<void> {
    const at = performance.now();
    if (at - this.toldAt < this.tellMs) return;
    this.toldAt = at;
    const done = Math.floor(this.done + records);
    const pace = this.tempo.look({ at, done });
    if (!this.isCounted) {
      // Where the server could not say it in time, it could not later either.
      this.isCounted = true;
      this.total = await this.count();
    }
    await this.tell({ done, pace, ...(this.total !== undefined && { total: this.total }) });
  }
}

/** A stretch has its own end on the server, which looks at it between two texts: a regular expression on one is not cut off. */
const SPARE_MS = 2000;
/** Records that are stamped before the stream is waited for: each stamp is an event that delays all applications. */
const AT_ONCE = 1000;
/** The stream is waited for no longer than this (milliseconds): its next batch may be long work. */
const LONGEST_WAIT_MS = 5000;
/** How often the progress of a stamping is stored (milliseconds). */
const TELL_MS = 2000;

/** What a stamping is done for, and what ends it. */
export interface StampingTerm {
  term: TermAtWork;
  stop: AbortSignal;
}

/**
 * Stamps anew the records that the filter of a service and the one before it judge differently, beside the stream and no faster
 * than the stream works through the stamps.
 */
@Injectable()
export class EditedRecords {
  /** Milliseconds that MongoDB has to judge a stretch of records by two filters. */
  private readonly judgingMs = STRETCH_MS;
  private readonly tellMs = TELL_MS;

  constructor(
    @InjectConnection() private readonly connection: Connection,
    private readonly restamps: Restamps,
    private readonly workedThrough: WorkedThrough,
    private readonly watched: WatchedPlace,
    private readonly entries: FilterVersions,
  ) {}

  /**
   * Everything of the application and kind where one of the filters cannot be read, MongoDB refuses one, or cannot end its
   * work on a single record. Throws TermOverError where `stop` came first.
   */
  async restamp(entry: ReadVersion, { term, stop }: StampingTerm): Promise<Restamped> {
    const { organizationid, appid, kind, name, filter, previous } = entry;
    const service = { organizationid, appid, name };
    let differing = filter && previous && judgedDifferently(filter, previous);
    const done: Restamped = { stamped: 0, setAside: 0 };
    let since: { stamps: number; place: mongo.Timestamp } | undefined;
    const collection = this.connection.collection(COLLECTION_OF[kind]);
    const way = { key: '_id', among: { organizationid, appid } };
    const progress = this.progressOf(entry, term);
    await walk(undefined, {
      next: (behind, most) => nextStretch(collection, way, { behind, most, maxTimeMS: STRETCH_MS }),
      work: async (stretch) => {
        const within = { organizationid, appid, _id: inStretch(stretch) };
        const ids = await this.idsOf(collection, { $and: [within, differing ?? {}] }).catch(
          (error: unknown) => {
            const isTooSlowAlone = isTimeout(error) && stretch.count === 1;
            const isStuck = error instanceof DeadlineError && differing !== undefined;
            if (isOfDatabase(error) && !isTooSlowAlone && !isStuck) throw error;
            term.showLife();
            if (!isTooSlowAlone) differing = undefined;
            return this.idsOf(collection, within);
          },
        );
        for (let first = 0; first < ids.length; first += AT_ONCE) {
          term.showLife();
          const some = ids.slice(first, first + AT_ONCE);
          if (since === undefined || since.stamps + some.length > AT_ONCE)
            since = { stamps: 0, place: await this.onceReached(service, since?.place, stop) };
          const { stamped, setAside } = await this.restamps.records(kind, some, 'filter', term, service);
          since.stamps += stamped;
          done.stamped += stamped;
          done.setAside += setAside;
          await progress.within((stretch.count * (first + some.length)) / ids.length);
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

  /** What it cannot tell is no trouble of the stamping. To count the records may take as long as a stretch of them. */
  private progressOf(entry: ReadVersion, term: TermAtWork): StampingProgress {
    const { organizationid, appid, kind } = entry;
    const records = this.connection.collection(COLLECTION_OF[kind]);
    return new StampingProgress(
      () =>
        records
          .countDocuments({ organizationid, appid }, { maxTimeMS: STRETCH_MS })
          .catch(() => undefined)
          .finally(() => term.showLife()),
      (work) => this.entries.tell(entry, work).catch(() => undefined),
      this.tellMs,
    );
  }

  /** Waits until the watcher has passed this place with the application, and answers where the log is now. */
  private async onceReached(
    tenant: Tenant,
    place: mongo.Timestamp | undefined,
    stop: AbortSignal,
  ): Promise<mongo.Timestamp> {
    if (place !== undefined) await this.watched.reached(place, endsAfter(LONGEST_WAIT_MS, stop), tenant);
    if (stop.aborted) throw new TermOverError();
    return (await this.workedThrough.now()).at;
  }

  /** No index is stated: after a drop it is missing until the watcher comes to that, which it could not if this failed. */
  private async idsOf(collection: mongo.Collection, query: mongo.Document): Promise<mongo.ObjectId[]> {
    const options = { projection: { _id: 1 }, sort: { _id: 1 }, maxTimeMS: this.judgingMs } as const;
    const asked = collection.find<{ _id: mongo.ObjectId }>(query, options).toArray();
    const found = await endsWithin(this.judgingMs + SPARE_MS, 'Judging records', asked);
    return found.map(({ _id }) => _id);
  }
}
