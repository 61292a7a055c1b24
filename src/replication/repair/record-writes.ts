import { Injectable } from '@nestjs/common';
import { InjectConnection } from '@nestjs/mongoose';
import type { Connection, mongo } from 'mongoose';
import { type SingleWrite, writeEach } from '../../database/index.js';
import { COLLECTION_OF, type Kind, RecordsHeldError, writeUnlessHeld } from '../../record/index.js';
import { Quarantine, type RefusedWrite } from '../quarantine/index.js';

/** The update of one record, by its `_id`. */
export interface RecordWrite extends SingleWrite {
  updateOne: { filter: mongo.Document & { _id: mongo.ObjectId }; update: mongo.Document | mongo.Document[] };
}

/** The places of those writes that were not done. */
export interface NotWritten {
  /** They ran into a unique index. */
  duplicates: Set<number>;
  /** Their records cannot take them, and are set aside. */
  setAside: Set<number>;
}

/** Writes of repairs into records of other programs. */
@Injectable()
export class RecordWrites {
  constructor(
    @InjectConnection() private readonly connection: Connection,
    private readonly quarantine: Quarantine,
  ) {}

  /**
   * Does the writes in any order. A record that cannot take its write, since it is full or its collection forbids it, is set
   * aside: it must not stop the watcher. Throws a RecordsHeldError for those that another program's transaction holds.
   */
  async write(kind: Kind, what: RefusedWrite['what'], writes: RecordWrite[]): Promise<NotWritten> {
    const collection = this.connection.collection(COLLECTION_OF[kind]) as unknown as mongo.Collection;
    const places = new Map(writes.map((write, index) => [write, index]));
    const done: NotWritten = { duplicates: new Set(), setAside: new Set() };
    const unfit: RefusedWrite[] = [];
    const held = await writeUnlessHeld(writes, async (some, maxTimeMS) => {
      const { refused } = await writeEach(collection, some, { maxTimeMS });
      for (const { index, isDuplicate, message } of refused) {
        const write = some[index]!;
        (isDuplicate ? done.duplicates : done.setAside).add(places.get(write)!);
        const owner = write.updateOne.filter._id;
        if (!isDuplicate) unfit.push({ concern: { what: 'record', kind, owner }, what, reason: message });
      }
    });
    await this.quarantine.setAsideRefused(unfit);
    if (held.length > 0) throw new RecordsHeldError(held.map(({ updateOne }) => updateOne.filter._id));
    return done;
  }
}
