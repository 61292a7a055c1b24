import type { Model, Connection, mongo } from 'mongoose';
import { Inject, Injectable, type OnModuleDestroy } from '@nestjs/common';
import { InjectConnection, InjectModel } from '@nestjs/mongoose';
import { setMaxListeners } from 'node:events';
import { type Tenant, BY_STAMP, DELIVERABLE, FIRST_ID, recordsIn } from '../../record/index.js';
import { type Fences, type Mark, markName, type MarkKey, markKey, RAISE } from '../protocol/index.js';
import type { Kind } from '../../kinds/index.js';
import { SETTINGS, type Settings } from '../../platform/config/index.js';
import {
  alongIndex,
  type IndexFields,
  type SnapshotOptions,
  FUTURE_TOLERANCE_MS,
  bareCommand,
  COMMAND_MS,
  placedReply,
} from '../../platform/database/index.js';
import { LEDGER, MARK_MODEL, MARKS, TOMBSTONES_BY_STAMP } from './collections.schema.js';
import { problems } from '../../platform/http/index.js';
import { ProgressReader } from './progress-reader.js';
import { KnownMoments } from './moments.js';
import { WatchedPlace } from './known-progress.js';

/**
 * The current fences, of all applications or of one. Fences later than those the stream has passed can only cause more
 * re-stamps, never fewer.
 */
export async function readFences(marks: Model<Mark>, tenant?: Tenant): Promise<Fences> {
  const own = tenant && {
    '_id.organizationid': tenant.organizationid,
    '_id.appid': tenant.appid,
  };
  const found = await marks.find({ ...own }).lean();
  return new Map(found.map(({ _id, fence }) => [markName(_id), fence]));
}

/** Whether the mark of a kind was ever raised, in any application. Otherwise no consumer has received a time of the kind. */
export async function hasMarks(connection: Connection, kind: Kind): Promise<boolean> {
  const one = { projection: { _id: 1 } } as const;
  return (await connection.collection(MARKS).findOne({ '_id.kind': kind }, one)) !== null;
}

/** A range of stamps. */
export interface StampRange {
  lower: { $gt: Date } | { $gte: Date };
  /** The greatest stamp in the range: a date, or an expression of the database's clock. */
  upTo: Date | mongo.Document;
}

/** The greatest stamp of an application and kind, over deliverable records and hard deletes. */
@Injectable()
export class GreatestStamp {
  constructor(
    @InjectConnection() private readonly connection: Connection,
    @Inject(SETTINGS) private readonly settings: Settings,
  ) {}

  /**
   * The greatest stamp in a range, as of now or of a moment; undefined if there is none. Records and hard deletes are read
   * in parallel, with one query each. A query examines one index entry, and one document if there is any in the range. It
   * examines more only if documents that are not deliverable have greater stamps.
   */
  async read(
    { organizationid, appid, kind }: MarkKey,
    range: StampRange,
    snapshot?: SnapshotOptions,
  ): Promise<Date | undefined> {
    const tenant = { organizationid, appid };
    const records = { ...tenant, _id: { $gte: FIRST_ID }, $and: [DELIVERABLE] };
    const tombstones = { ...tenant, kind, alive: false };
    const stamps = await Promise.all([
      this.last(recordsIn(this.connection, kind), { ...records, ...inStampRange(range) }, BY_STAMP, snapshot),
      this.last(
        this.connection.collection(LEDGER),
        { ...tombstones, ...inStampRange(range) },
        TOMBSTONES_BY_STAMP,
        snapshot,
      ),
    ]);
    return stamps.reduce((one, other) => (one === undefined || (other && other > one) ? other : one));
  }

  private async last(
    collection: mongo.Collection,
    query: mongo.Document,
    along: IndexFields,
    snapshot?: SnapshotOptions,
  ): Promise<Date | undefined> {
    const found = await alongIndex(collection, along, (hint) =>
      collection.findOne<{ lastupdated: Date }>(query, {
        ...snapshot,
        projection: { _id: 0, lastupdated: 1 },
        hint,
        sort: { lastupdated: -1 },
        comment: 'tidemark max',
        maxTimeMS: this.settings.queryMs,
      }),
    );
    return found?.lastupdated;
  }
}

/**
 * Once an index has contained an array in place of a stamp, MongoDB uses only one bound of a range and sorts everything
 * beyond it. Expressions never become bounds of such an index. So the lower bound is the one used, and few stamps lie beyond
 * it.
 */
function inStampRange({ lower, upTo }: StampRange): mongo.Document {
  return { lastupdated: lower, $expr: { $lte: ['$lastupdated', upTo] } };
}

/** The greatest accepted lead of a client's clock over the database's (milliseconds). */
const CLIENT_AHEAD_MS = 5000;
const EARLIEST = new Date(0);
const NOT_ANNOUNCED =
  'lies ahead of everything that this database has announced, as happens after a restore from an earlier copy';

/**
 * The times that this database has announced for an application and kind. If a client sends a later time, it comes from
 * another database, such as the one before a restore.
 */
@Injectable()
export class Announced {
  constructor(
    @InjectModel(MARK_MODEL) private readonly marks: Model<Mark>,
    private readonly known: KnownMoments,
    private readonly progress: ProgressReader,
    private readonly greatest: GreatestStamp,
  ) {}

  /** The highest clock value ever announced; undefined before the first one. */
  async fence(mark: MarkKey): Promise<Date | undefined> {
    return (await this.marks.findOne({ _id: markKey(mark) }).lean())?.fence;
  }

  /**
   * Throws 410 `source-restored` if a client continues from a time that was never announced. The database is read only
   * if the time is later than every fence that this instance knows, since another instance may have announced it. If
   * nothing was announced yet, or if there is neither a record nor a hard delete, a time up to the clock is accepted:
   * it may come from the client's own clock.
   */
  async assertAnnounced(mark: MarkKey, time: Date): Promise<void> {
    const known = this.known.highestFence(mark);
    if (known !== undefined && time <= known) return;
    const { clock, fence } = await this.readFence(mark);
    if (fence !== undefined && time <= fence) return;
    const isUpToClock = time.getTime() - clock.getTime() <= CLIENT_AHEAD_MS;
    if (isUpToClock && (fence === undefined || (await this.isEmpty(mark, clock)))) return;
    throw problems.sourceRestored(time.toISOString(), NOT_ANNOUNCED);
  }

  private async readFence(mark: MarkKey): Promise<{ clock: Date; fence: Date | undefined }> {
    const pipeline = [{ $match: { _id: markKey(mark) } }, { $project: { fence: 1 } }];
    const joined = [{ $lookup: { from: MARKS, pipeline, as: 'marks' } }];
    const { clock, marks = [] } = await this.progress.readWith<{ marks: Pick<Mark, 'fence'>[] }>(
      mark,
      joined,
    );
    return { clock, fence: marks[0]?.fence };
  }

  private async isEmpty(mark: MarkKey, clock: Date): Promise<boolean> {
    const upTo = new Date(clock.getTime() + FUTURE_TOLERANCE_MS);
    return (await this.greatest.read(mark, { lower: { $gte: EARLIEST }, upTo })) === undefined;
  }
}

/** A raise that this instance has not seen passed yet. Resolves to its place in the log once it is written. */
type Raise = Promise<mongo.Timestamp>;

interface Refused {
  errmsg: string;
}

/**
 * Raises marks, with one raise in flight for each (design §3, Max). All callers share it, and no other raise begins until
 * the watcher has passed it. Otherwise a consumer that polls during re-stamping would make the records late again and again.
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
   * Waits at most `withinMs` milliseconds until the watcher has passed a raise that began after this call. Returns false on
   * timeout. Throws if the mark cannot be raised.
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

  /**
   * Waits until a raise is passed. A raise that all its callers have abandoned stays in flight, and the next caller checks
   * whether it was passed.
   */
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

  /** One majority write, whose place in the log is the moment. The reply to the raw command contains that place. */
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

/** The value of the promise; undefined if `left` is aborted first. */
function unlessLeft<T>(promise: Promise<T>, left: AbortSignal): Promise<T | undefined> {
  return new Promise((resolve, reject) => {
    left.addEventListener('abort', () => resolve(undefined), { once: true });
    promise.then(resolve, reject);
  });
}
