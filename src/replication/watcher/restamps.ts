import { Injectable } from '@nestjs/common';
import { InjectConnection } from '@nestjs/mongoose';
import type { Connection, mongo } from 'mongoose';
import { Metrics } from '../../common/index.js';
import { isUnfit } from '../../database/index.js';
import { COLLECTION_OF, type Kind, needsStamp, STAMP, stampAbove } from '../../record/index.js';
import { writeRecords } from './record-writes.js';
import type { Late } from './rules.js';

const AT_ONCE = 1000;

/** Why everything of a slice is stamped anew, whatever its stamp is. */
export type Cause = 'pass' | 'filter' | 'number';

/**
 * Stamps anew, in bulks of at most 1,000: all of a bulk have one `$$NOW`, so a longer one would be late for every mark
 * that is raised meanwhile.
 */
@Injectable()
export class Restamps {
  constructor(
    @InjectConnection() private readonly connection: Connection,
    private readonly metrics: Metrics,
  ) {}

  /** Rule 1: records whose stored stamp is still bad or not above the fence. */
  async late(kind: Kind, late: Late[]): Promise<void> {
    await this.lateIn(COLLECTION_OF[kind], late, {});
  }

  /** Rule 2: the same for tombstones, unless they live again. */
  async lateTombstones(late: Late[]): Promise<void> {
    await this.lateIn('ledger', late, { alive: false });
  }

  /** Records, whatever their stamp is. */
  records(kind: Kind, ids: mongo.ObjectId[], cause: Cause): Promise<void> {
    return this.stamp(COLLECTION_OF[kind], ids, { $set: { lastupdated: STAMP } }, {}, cause);
  }

  /** Tombstones, whatever their stamp is. */
  tombstones(ids: mongo.ObjectId[], cause: Cause): Promise<void> {
    return this.stamp('ledger', ids, { $set: { lastupdated: STAMP } }, { alive: false }, cause);
  }

  private async lateIn(collection: string, late: Late[], which: mongo.Document): Promise<void> {
    const alike = new Map<string, Late[]>();
    for (const one of late) {
      const key = `${one.reason} ${one.fence?.getTime() ?? ''}`;
      alike.set(key, [...(alike.get(key) ?? []), one]);
    }
    for (const group of alike.values()) {
      const { fence, reason } = group[0]!;
      const update = { $set: { lastupdated: stampAbove(fence) } };
      const stillLate = { ...which, $expr: needsStamp(fence) };
      const ids = group.map(({ _id }) => _id);
      await this.stamp(collection, ids, update, stillLate, reason);
    }
  }

  private async stamp(
    name: string,
    ids: mongo.ObjectId[],
    update: mongo.Document,
    which: mongo.Document,
    reason: Late['reason'] | Cause,
  ): Promise<void> {
    const collection = this.connection.collection(name) as unknown as mongo.Collection;
    for (let start = 0; start < ids.length; start += AT_ONCE) {
      const some = ids.slice(start, start + AT_ONCE);
      const stamped = await collection
        .updateMany({ ...which, _id: { $in: some } }, [update])
        .then(({ modifiedCount }) => modifiedCount, onlyUnfit);
      if (stamped === undefined) await this.oneByOne(collection, some, update, which);
      this.metrics.restamps.inc({ reason }, stamped ?? some.length);
    }
  }

  /** A record that cannot take a stamp stops the whole bulk, so each is written by itself. */
  private async oneByOne(
    collection: mongo.Collection,
    ids: mongo.ObjectId[],
    update: mongo.Document,
    which: mongo.Document,
  ): Promise<void> {
    const writes = ids.map((_id) => ({ updateOne: { filter: { ...which, _id }, update: [update] } }));
    await writeRecords(collection, writes);
  }
}

function onlyUnfit(error: unknown): undefined {
  if (!isUnfit(error)) throw error;
}
