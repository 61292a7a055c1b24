import { Injectable } from '@nestjs/common';
import { InjectConnection } from '@nestjs/mongoose';
import type { Connection, mongo } from 'mongoose';
import type { PastValidator } from '../../../platform/database/index.js';
import { Metrics } from '../../../platform/observability/index.js';
import { collectionOf, type Kind } from '../../../kinds/index.js';
import { recordsIn, RecordsHeldError, stampAnew, stampTogether } from '../../../record/index.js';
import { Quarantine } from '../../store/index.js';
import { RestampNotes } from './restamps.js';

const HELD = 'A transaction of another program holds it';

/** Records that are stamped above the same time. */
export interface RecordsToStamp {
  ids: mongo.ObjectId[];
  above: Date | undefined;
  /** A condition on each record. */
  where: mongo.Document;
}

/** Options of a write within a transaction. */
interface InTransaction extends PastValidator {
  session: mongo.ClientSession;
}

/** Stamps resurrected records above their former tombstones. */
@Injectable()
export class StampsAbove {
  constructor(
    @InjectConnection() private readonly connection: Connection,
    private readonly quarantine: Quarantine,
    private readonly metrics: Metrics,
    private readonly notes: RestampNotes,
  ) {}

  /**
   * Stamps within a transaction. Returns the number of stamped records. Throws if one of them cannot be stamped, so
   * that the transaction is aborted.
   */
  async within(kind: Kind, records: RecordsToStamp[], options: InTransaction): Promise<number> {
    let stamped = 0;
    for (const { ids, above, where } of records)
      stamped += await stampTogether(this.records(kind), ids, { where, fence: above }, options);
    return stamped;
  }

  /** Stamps outside of a transaction. Records that cannot be stamped, or are held by a transaction, are set aside. */
  async beside(kind: Kind, records: RecordsToStamp[]): Promise<void> {
    for (const { ids, above, where } of records) {
      const { stamped, refused, held } = await stampAnew(this.records(kind), ids, { where, fence: above });
      for (const { _id, reason } of refused)
        await this.setAside(kind, [{ ids: [_id], above, where }], reason);
      if (held.length > 0) await this.setAside(kind, [{ ids: held, above, where }], HELD);
      this.note(kind, [{ ids, above, where }], stamped);
    }
  }

  /** Sets records aside. They are stamped later, above the same time. */
  async setAside(kind: Kind, records: RecordsToStamp[], reason: string): Promise<void> {
    await this.quarantine.setAsideRefused(
      records.flatMap(({ ids, above }) =>
        ids.map((owner) => {
          const concern = { what: 'record' as const, kind, owner };
          return { concern, what: 'stamp' as const, reason, above };
        }),
      ),
    );
  }

  /**
   * Sets aside records that could not be resurrected because a transaction holds them; the retry resurrects them. Throws
   * any other error.
   */
  async setAsideHeld(kind: Kind, error: unknown): Promise<void> {
    if (!(error instanceof RecordsHeldError)) throw error;
    await this.setAside(kind, [{ ids: error.ids, above: undefined, where: {} }], HELD);
  }

  /** Counts and notes the stamped records. */
  note(kind: Kind, records: RecordsToStamp[], stamped: number): void {
    this.metrics.restamps.inc({ reason: 'resurrection' }, stamped);
    const ids = records.flatMap((some) => some.ids);
    this.notes.note({ collection: collectionOf(kind), reason: 'resurrection', ids, stamped });
  }

  private records(kind: Kind): mongo.Collection {
    return recordsIn(this.connection, kind);
  }
}
