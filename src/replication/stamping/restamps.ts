import { Injectable } from '@nestjs/common';
import { InjectConnection } from '@nestjs/mongoose';
import type { Connection, mongo } from 'mongoose';
import { Metrics } from '../../observability/index.js';
import {
  COLLECTION_OF,
  type Kind,
  needsStamp,
  RecordsHeldError,
  stampAnew,
  type Stamping,
} from '../../record/index.js';
import { LEDGER } from '../ledger/index.js';
import type { TermAtWork } from '../progress/index.js';
import { type Concern, Quarantine } from '../quarantine/index.js';
import type { Late } from './late.js';
import type { Cause, RestampReason } from './reason.js';
import type { EditedService } from './restamp-note.schema.js';
import { RestampNotes } from './restamp-notes.js';
import { stampedAmong } from './stamped-among.js';

const AT_ONCE = 1000;

/** What of a collection is stamped anew, and why. */
interface Restamp {
  name: string;
  concern: (owner: mongo.ObjectId) => Concern;
  ids: mongo.ObjectId[];
  stamping: Stamping;
  reason: RestampReason;
  service?: EditedService | undefined;
}

/** How many were stamped, and how many could not be. */
export interface Restamped {
  stamped: number;
  setAside: number;
}

/**
 * Stamps anew, in bulks of at most 1,000: all of a bulk have one `$$NOW`, so a longer one would be late for every mark
 * that is raised meanwhile. What MongoDB refuses a stamp is set aside before anything else is done.
 */
@Injectable()
export class Restamps {
  constructor(
    @InjectConnection() private readonly connection: Connection,
    private readonly quarantine: Quarantine,
    private readonly metrics: Metrics,
    private readonly notes: RestampNotes,
  ) {}

  /** Rule 1: records whose stored stamp is still bad or not above the fence. */
  async late(kind: Kind, late: Late[], term: TermAtWork): Promise<void> {
    await this.lateIn({ ...recordsOf(kind), late, which: {} }, term);
  }

  /** Rule 2: the same for tombstones, unless they live again. */
  async lateTombstones(late: Late[], term: TermAtWork): Promise<void> {
    await this.lateIn({ ...TOMBSTONES, late, which: { alive: false } }, term);
  }

  /** Records, whatever their stamp is; for an edited filter with its service. */
  records(
    kind: Kind,
    ids: mongo.ObjectId[],
    cause: Cause,
    term: TermAtWork,
    service?: EditedService,
  ): Promise<Restamped> {
    return this.stamp({ ...recordsOf(kind), ids, stamping: {}, reason: cause, service }, term);
  }

  /** Records that were set aside, above a time. */
  async above(kind: Kind, ids: mongo.ObjectId[], fence: Date, term: TermAtWork): Promise<void> {
    await this.stamp({ ...recordsOf(kind), ids, stamping: { fence }, reason: 'quarantine' }, term);
  }

  /** Tombstones, whatever their stamp is. */
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
    { name, concern, ids, stamping, reason, service }: Restamp,
    term: TermAtWork,
  ): Promise<Restamped> {
    const collection = this.connection.collection(name) as unknown as mongo.Collection;
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
}

/** Documents of one collection, and what they are about. */
type Documents = Pick<Restamp, 'name' | 'concern'>;

interface LateIn extends Documents {
  late: Late[];
  which: mongo.Document;
}

const TOMBSTONES: Documents = { name: LEDGER, concern: (owner) => ({ what: 'tombstone', owner }) };

function recordsOf(kind: Kind): Documents {
  return { name: COLLECTION_OF[kind], concern: (owner) => ({ what: 'record', kind, owner }) };
}
