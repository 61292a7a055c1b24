import { Injectable } from '@nestjs/common';
import { InjectConnection } from '@nestjs/mongoose';
import type { Connection, mongo } from 'mongoose';
import { type PastValidator, pastValidator, writeEach } from '../../database/index.js';
import { Metrics } from '../../observability/index.js';
import { COLLECTION_OF, doubled, type Kind, single, stampAbove, stampDoubled } from '../../record/index.js';
import { Quarantine } from '../quarantine/index.js';
import { RestampNotes } from './restamp-notes.js';

/** A record that is stamped, and above what. */
export interface RecordToStamp {
  _id: mongo.ObjectId;
  above: Date | undefined;
  /** What has to be true of it. */
  where: mongo.Document;
}

/** Of a write within a transaction. */
interface InTransaction extends PastValidator {
  session: mongo.ClientSession;
}

/** Stamps records that came back to life, each above the tombstone that it had. */
@Injectable()
export class StampsAbove {
  constructor(
    @InjectConnection() private readonly connection: Connection,
    private readonly quarantine: Quarantine,
    private readonly metrics: Metrics,
    private readonly notes: RestampNotes,
  ) {}

  /** Answers how many were stamped. Throws where one of them cannot take its stamp: nothing of the transaction may hold. */
  async within(kind: Kind, records: RecordToStamp[], options: InTransaction): Promise<number> {
    if (records.length === 0) return 0;
    const { modifiedCount } = await this.records(kind).bulkWrite(records.map(stampWrite), options);
    return modifiedCount + (await this.doubled(kind, records, options));
  }

  /** The same outside of a transaction. What cannot take its stamp is set aside. */
  async beside(kind: Kind, records: RecordToStamp[], maxTimeMS: number): Promise<void> {
    if (records.length === 0) return;
    const { modified, refused } = await writeEach(this.records(kind), records.map(stampWrite), { maxTimeMS });
    for (const { index, message } of refused) await this.setAside(kind, [records[index]!], message);
    this.tell(
      kind,
      records,
      modified + (await pastValidator((options) => this.doubled(kind, records, options))),
    );
  }

  /** They are stamped later, above the same time. */
  async setAside(kind: Kind, records: RecordToStamp[], reason: string): Promise<void> {
    await this.quarantine.setAsideRefused(
      records.map(({ _id, above }) => {
        const concern = { what: 'record' as const, kind, owner: _id };
        return { concern, what: 'stamp', reason, above };
      }),
    );
  }

  /** Counts and notes what was stamped. */
  tell(kind: Kind, records: RecordToStamp[], stamped: number): void {
    this.metrics.restamps.inc({ reason: 'resurrection' }, stamped);
    const ids = records.map(({ _id }) => _id);
    this.notes.note({ collection: COLLECTION_OF[kind], reason: 'resurrection', ids, stamped });
  }

  private async doubled(
    kind: Kind,
    records: RecordToStamp[],
    options: Partial<InTransaction>,
  ): Promise<number> {
    const byId = new Map(records.map((record) => [record._id.toHexString(), record]));
    const ids = { _id: { $in: records.map(({ _id }) => _id) } };
    const inSession = options.session && { session: options.session };
    const query = { $and: [ids, doubled('lastupdated')] };
    const found = this.records(kind).find(query, { ...inSession, projection: { _id: 1 } });
    let stamped = 0;
    for (const { _id } of await found.toArray()) {
      const { where, above: fence } = byId.get(_id.toHexString())!;
      const write = { ids: [_id], names: ['lastupdated'], where, fence, options };
      stamped += await stampDoubled(this.records(kind), write);
    }
    return stamped;
  }

  private records(kind: Kind): mongo.Collection {
    return this.connection.collection(COLLECTION_OF[kind]);
  }
}

function stampWrite({ _id, above, where }: RecordToStamp) {
  const filter = { $and: [{ _id }, where, single('lastupdated')] };
  return { updateOne: { filter, update: [{ $set: { lastupdated: stampAbove(above) } }] } };
}
