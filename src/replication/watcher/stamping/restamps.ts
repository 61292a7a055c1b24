import { Inject, Injectable } from '@nestjs/common';
import { InjectConnection } from '@nestjs/mongoose';
import type { Connection, mongo } from 'mongoose';
import { SETTINGS, type Settings } from '../../../platform/config/index.js';
import { WriteBehind } from '../../../platform/database/index.js';
import { RestampBook, type StampedBulk, writeRestamps } from './restamp-book.js';
import { within } from '../../../platform/common/index.js';
import { Metrics } from '../../../platform/observability/index.js';
import type { Kind } from '../../../kinds/index.js';
import { needsStamp, RecordsHeldError, recordsIn, stampAnew, type Stamping } from '../../../record/index.js';
import { LEDGER, type TermAtWork, type Concern, Quarantine } from '../../store/index.js';
import type { Late, Cause, RestampReason } from '../../protocol/index.js';
import type { EditedService } from '../collections.schema.js';

const EVERY_MS = 1000;

/**
 * Notes which records the watcher has re-stamped, to explain why a record was delivered again. Notes are written together
 * once a second. The watcher does not wait for them, and they never make it fail. A process that is killed loses the notes
 * of its last second.
 */
@Injectable()
export class RestampNotes extends WriteBehind {
  /** Whether re-stamps are noted at all. */
  readonly areWanted: boolean;
  private readonly book: RestampBook;

  constructor(
    @InjectConnection() private readonly connection: Connection,
    @Inject(SETTINGS) { restampHistoryDays }: Settings,
  ) {
    super('Restamps', EVERY_MS, 'Notes about re-stamps cannot be written, and are lost.');
    this.areWanted = restampHistoryDays > 0;
    this.book = new RestampBook(restampHistoryDays);
  }

  note(bulk: StampedBulk): void {
    this.book.note(bulk);
  }

  /** At shutdown, Nest calls the hook that stops the watcher before the one that causes the last write. */
  protected override write(): Promise<void> {
    return writeRestamps(this.connection.db!, this.book);
  }
}

const READ_MS = 2000;
/** Excludes stamps that another program has set ahead of the clock, which are later than those of this bulk. */
const NOT_AHEAD = { $expr: { $lte: ['$lastupdated', '$$NOW'] } };

interface Read {
  _id: mongo.ObjectId;
  lastupdated: Date;
}

/**
 * Returns the records of a bulk that were stamped just now, for a bulk in which the others kept their good stamps. As a
 * rule, all records that one bulk stamps get the same stamp, which is later than those of the others, so they are the
 * records with the greatest stamp. Returns undefined if their number does not match, for example after a concurrent
 * write, or if they cannot be read. A note is not worth more effort.
 */
async function stampedAmong(
  collection: mongo.Collection,
  ids: mongo.ObjectId[],
  stamped: number,
): Promise<mongo.ObjectId[] | undefined> {
  const query = { $and: [{ _id: { $in: ids } }, { lastupdated: { $type: 'date' } }, NOT_AHEAD] };
  const options = { projection: { lastupdated: 1 }, batchSize: ids.length + 1, maxTimeMS: READ_MS };
  const reading = collection.find(query, options).toArray();
  const found = await within(2 * READ_MS, 'A look at what was stamped', reading).catch(() => []);
  const latest = latestOf(found as unknown as Read[]);
  return latest.length === stamped ? latest : undefined;
}

/** Those that share the greatest stamp. */
function latestOf(found: Read[]): mongo.ObjectId[] {
  const times = found.map(({ lastupdated }) => Number(lastupdated));
  const greatest = times.reduce((one, other) => Math.max(one, other), -Infinity);
  return found.filter((_, place) => times[place] === greatest).map(({ _id }) => _id);
}

const AT_ONCE = 1000;

/** The documents of a collection that are re-stamped, and why. */
interface Restamp {
  /** The kind of the records; undefined for tombstones. */
  kind: Kind | undefined;
  concern: (owner: mongo.ObjectId) => Concern;
  ids: mongo.ObjectId[];
  stamping: Stamping;
  reason: RestampReason;
  service?: EditedService | undefined;
}

/** Number of documents that were stamped, and that could not be stamped. */
export interface Restamped {
  stamped: number;
  setAside: number;
}

/**
 * Re-stamps documents in bulks of at most 1,000. All documents of a bulk have one `$$NOW`, so a longer bulk would be late
 * for every mark that is raised meanwhile. Documents that MongoDB refuses to stamp are set aside before anything else is
 * done.
 */
@Injectable()
export class Restamps {
  constructor(
    @InjectConnection() private readonly connection: Connection,
    private readonly quarantine: Quarantine,
    private readonly metrics: Metrics,
    private readonly notes: RestampNotes,
  ) {}

  /** Rule 1: re-stamps records whose stored stamp is still bad or not above the fence. */
  async late(kind: Kind, late: Late[], term: TermAtWork): Promise<void> {
    await this.lateIn({ ...recordsOf(kind), late, which: {} }, term);
  }

  /** Rule 2: the same for tombstones, unless they live again. */
  async lateTombstones(late: Late[], term: TermAtWork): Promise<void> {
    await this.lateIn({ ...TOMBSTONES, late, which: { alive: false } }, term);
  }

  /** Re-stamps records regardless of their stamps. `service` is given if the cause is its edited filter. */
  records(
    kind: Kind,
    ids: mongo.ObjectId[],
    cause: Cause,
    term: TermAtWork,
    service?: EditedService,
  ): Promise<Restamped> {
    return this.stamp({ ...recordsOf(kind), ids, stamping: {}, reason: cause, service }, term);
  }

  /** Re-stamps records that were set aside. Their new stamp is above a given time. */
  async above(kind: Kind, ids: mongo.ObjectId[], fence: Date, term: TermAtWork): Promise<void> {
    await this.stamp({ ...recordsOf(kind), ids, stamping: { fence }, reason: 'quarantine' }, term);
  }

  /** Re-stamps tombstones regardless of their stamps. */
  tombstones(ids: mongo.ObjectId[], cause: Cause, term: TermAtWork): Promise<Restamped> {
    return this.stamp({ ...TOMBSTONES, ids, stamping: { where: { alive: false } }, reason: cause }, term);
  }

  private async lateIn({ late, which, ...documents }: LateIn, term: TermAtWork): Promise<void> {
    const alike = new Map<string, Late[]>();
    for (const one of late) {
      const key = `${one.reason} ${one.fence?.getTime() ?? ''}`;
      alike.set(key, [...(alike.get(key) ?? []), one]);
    }
    for (const group of alike.values()) {
      const { fence, reason } = group[0]!;
      const where = { ...which, $expr: needsStamp(fence) };
      const ids = group.map(({ _id }) => _id);
      await this.stamp({ ...documents, ids, stamping: { where, fence }, reason }, term);
    }
  }

  private async stamp(
    { kind, concern, ids, stamping, reason, service }: Restamp,
    term: TermAtWork,
  ): Promise<Restamped> {
    const collection = this.collectionOf(kind);
    const { collectionName: name } = collection;
    const done: Restamped = { stamped: 0, setAside: 0 };
    for (let start = 0; start < ids.length; start += AT_ONCE) {
      const some = ids.slice(start, start + AT_ONCE);
      const { stamped, refused, held } = await stampAnew(collection, some, stamping);
      await this.quarantine.setAsideRefused(
        refused.map(({ _id, reason: refusal }) => ({
          concern: concern(_id),
          what: 'stamp',
          reason: refusal,
        })),
      );
      done.stamped += stamped;
      done.setAside += refused.length;
      this.metrics.restamps.inc({ reason }, stamped);
      term.showLife();
      const isPart = this.notes.areWanted && stamped > 0 && stamped < some.length;
      const known = isPart ? await stampedAmong(collection, some, stamped) : some;
      this.notes.note({ collection: name, reason, ids: known ?? some, stamped, service });
      if (held.length > 0) throw new RecordsHeldError(held);
      term.showLife();
    }
    return done;
  }

  private collectionOf(kind: Kind | undefined): mongo.Collection {
    return kind === undefined ? this.connection.collection(LEDGER) : recordsIn(this.connection, kind);
  }
}

/** The documents of one collection, and how the quarantine names them. */
type Documents = Pick<Restamp, 'kind' | 'concern'>;

interface LateIn extends Documents {
  late: Late[];
  which: mongo.Document;
}

const TOMBSTONES: Documents = {
  kind: undefined,
  concern: (owner) => ({ what: 'tombstone', owner }),
};

function recordsOf(kind: Kind): Documents {
  return { kind, concern: (owner) => ({ what: 'record', kind, owner }) };
}
