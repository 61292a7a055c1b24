import { Injectable } from '@nestjs/common';
import mongoose, { type mongo } from 'mongoose';
import { BY_RECORD_ID, DELIVERABLE, type Tenant } from '../../../record/index.js';
import { inSlices } from '../../store/plain.js';
import { RawFind } from './raw-find.js';
import type { Selection } from './selection.js';

const { BSON } = mongoose.mongo;
const LONGEST_ID = 2 * 1024 * 1024;
const ANY_TEXT = { validation: { utf8: false } };

/** The fields of a tombstone that are delivered. */
interface Tombstone {
  _id: mongo.ObjectId;
  id: string;
  lastupdated?: Date;
}

/**
 * Hard deletes exclude a record that came back under the same `id` (contract §1). The ledger learns of such a record
 * slightly later, so a moment in between may hold both the tombstone and the record.
 */
@Injectable()
export class TombstoneFilter {
  constructor(private readonly finds: RawFind) {}

  /**
   * The raw array of documents without the tombstones under whose `id` a record lives at that time. A record that can never
   * be delivered does not count, because no feed would ever report it or its deletion.
   */
  async withoutLiving(documents: Uint8Array, selection: Selection, at: mongo.Timestamp): Promise<Uint8Array> {
    if (selection.records === undefined) return documents;
    const tombstones = Object.values(BSON.deserialize(documents, ANY_TEXT)) as Tombstone[];
    const alive = new Set<string>();
    for (const some of inSlices(tombstones.filter(canBeFound), ({ id }) => id)) {
      for (const id of await this.among(some, selection, at)) alive.add(id);
    }
    if (alive.size === 0) return documents;
    return BSON.serialize({ ...tombstones.filter(({ id }) => !alive.has(id)) });
  }

  private async among(
    tombstones: Tombstone[],
    { scope, records }: Selection,
    at: mongo.Timestamp,
  ): Promise<string[]> {
    const { organizationid, appid } = scope as Tenant;
    const ids = tombstones.map(({ id }) => id);
    const { documents } = await this.finds.first(
      {
        collection: records!,
        filter: {
          ...{ organizationid, appid, id: { $in: ids, $type: 'string' } },
          ...{ _id: { $type: 'objectId' }, $and: [DELIVERABLE] },
        },
        along: BY_RECORD_ID,
        projection: { _id: 0, id: 1 },
        limit: ids.length,
      },
      at,
    );
    return (Object.values(BSON.deserialize(documents, ANY_TEXT)) as Pick<Tombstone, 'id'>[]).map(
      ({ id }) => id,
    );
  }
}

/**
 * Whether the `id` can be looked up: in an index, MongoDB rejects a text of half the maximum document size, 8 MiB.
 * Shorter than {@link LONGEST_ID}, it takes less than 6 MiB.
 */
function canBeFound({ id }: Tombstone): boolean {
  return id.length < LONGEST_ID;
}
