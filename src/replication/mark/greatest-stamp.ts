import { Inject, Injectable } from '@nestjs/common';
import { InjectConnection } from '@nestjs/mongoose';
import type { Connection, mongo } from 'mongoose';
import { SETTINGS, type Settings } from '../../config/index.js';
import { alongIndex, type IndexFields, type SnapshotOptions } from '../../database/index.js';
import { COLLECTION_OF, DELIVERABLE, FIRST_ID } from '../../record/index.js';
import { LEDGER } from '../ledger/index.js';
import type { MarkKey } from './mark.js';

const RECORDS_BY_STAMP = { organizationid: 1, appid: 1, lastupdated: 1, _id: 1 } as const;
const TOMBSTONES_BY_STAMP = { organizationid: 1, appid: 1, kind: 1, lastupdated: 1, _id: 1 } as const;

/** The stamps that are asked for. */
export interface StampRange {
  lower: { $gt: Date } | { $gte: Date };
  /** The greatest of them: a date, or an expression of the database's clock. */
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
   * The greatest in a range, as of now or of a moment; nothing where there is none. Of records and of hard deletes one
   * index entry is read, and one document where there is any in the range: further ones only where those of strangers lie
   * above. What is asked for is one read each, both at once.
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
      this.last(COLLECTION_OF[kind], { ...records, ...within(range) }, RECORDS_BY_STAMP, snapshot),
      this.last(LEDGER, { ...tombstones, ...within(range) }, TOMBSTONES_BY_STAMP, snapshot),
    ]);
    return stamps.reduce((one, other) => (one === undefined || (other && other > one) ? other : one));
  }

  private async last(
    name: string,
    query: mongo.Document,
    along: IndexFields,
    snapshot?: SnapshotOptions,
  ): Promise<Date | undefined> {
    const collection = this.connection.collection(name);
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
 * In an index where a list has ever stood in place of a stamp MongoDB uses one bound of a range only, and sorts all that
 * lies beyond it. Since expressions never become bounds there, it is the lower one that counts, beyond which little lies.
 */
function within({ lower, upTo }: StampRange): mongo.Document {
  return { lastupdated: lower, $expr: { $lte: ['$lastupdated', upTo] } };
}
