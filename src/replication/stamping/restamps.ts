import { Injectable, Logger } from '@nestjs/common';
import { InjectConnection } from '@nestjs/mongoose';
import type { Connection, mongo } from 'mongoose';
import { Metrics } from '../../observability/index.js';
import { COLLECTION_OF, type Kind, needsStamp, stampAnew, type Stamping } from '../../record/index.js';
import { LEDGER } from '../ledger/index.js';
import type { TermAtWork } from '../progress/index.js';
import type { Late } from './late.js';
import type { Cause, RestampReason } from './reason.js';
import type { EditedService } from './restamp-note.schema.js';
import { RestampNotes } from './restamp-notes.js';
import { stampedAmong } from './stamped-among.js';

const AT_ONCE = 1000;

/** What of a collection is stamped anew, and why. */
interface Restamp {
  name: string;
  ids: mongo.ObjectId[];
  stamping: Stamping;
  reason: RestampReason;
  service?: EditedService | undefined;
}

/**
 * Stamps anew, in bulks of at most 1,000: all of a bulk have one `$$NOW`, so a longer one would be late for every mark
 * that is raised meanwhile.
 */
@Injectable()
export class Restamps {
  private readonly log = new Logger('Watcher');

  constructor(
    @InjectConnection() private readonly connection: Connection,
    private readonly metrics: Metrics,
    private readonly notes: RestampNotes,
  ) {}

  /** Rule 1: records whose stored stamp is still bad or not above the fence. */
  async late(kind: Kind, late: Late[], term: TermAtWork): Promise<void> {
    await this.lateIn(COLLECTION_OF[kind], late, {}, term);
  }

  /** Rule 2: the same for tombstones, unless they live again. */
  async lateTombstones(late: Late[], term: TermAtWork): Promise<void> {
    await this.lateIn(LEDGER, late, { alive: false }, term);
  }

  /** Records, whatever their stamp is; for an edited filter with its service. */
  records(
    kind: Kind,
    ids: mongo.ObjectId[],
    cause: Cause,
    term: TermAtWork,
    service?: EditedService,
  ): Promise<void> {
    return this.stamp({ name: COLLECTION_OF[kind], ids, stamping: {}, reason: cause, service }, term);
  }

  /** Tombstones, whatever their stamp is. */
  tombstones(ids: mongo.ObjectId[], cause: Cause, term: TermAtWork): Promise<void> {
    return this.stamp({ name: LEDGER, ids, stamping: { where: { alive: false } }, reason: cause }, term);
  }

  private async lateIn(name: string, late: Late[], which: mongo.Document, term: TermAtWork): Promise<void> {
    const alike = new Map<string, Late[]>();
    for (const one of late) {
      const key = `${one.reason} ${one.fence?.getTime() ?? ''}`;
      alike.set(key, [...(alike.get(key) ?? []), one]);
    }
    for (const group of alike.values()) {
      const { fence, reason } = group[0]!;
      const where = { ...which, $expr: needsStamp(fence) };
      const ids = group.map(({ _id }) => _id);
      await this.stamp({ name, ids, stamping: { where, fence }, reason }, term);
    }
  }

  private async stamp({ name, ids, stamping, reason, service }: Restamp, term: TermAtWork): Promise<void> {
    const collection = this.connection.collection(name) as unknown as mongo.Collection;
    const leave = (id: mongo.ObjectId, error: Error) =>
      this.log.warn(`${String(id)} of ${name} cannot be stamped anew: ${error.message}`);
    for (let start = 0; start < ids.length; start += AT_ONCE) {
      const some = ids.slice(start, start + AT_ONCE);
      const stamped = await stampAnew(collection, some, stamping, leave);
      this.metrics.restamps.inc({ reason }, stamped);
      term.showLife();
      const isPart = this.notes.areWanted && stamped > 0 && stamped < some.length;
      const known = isPart ? await stampedAmong(collection, some, stamped) : some;
      this.notes.note({ collection: name, reason, ids: known ?? some, stamped, service });
      term.showLife();
    }
  }
}
