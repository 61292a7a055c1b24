import { Injectable, Logger } from '@nestjs/common';
import { InjectConnection } from '@nestjs/mongoose';
import type { Connection, mongo } from 'mongoose';
import { LRUCache } from 'lru-cache';
import { type SingleWrite, writeEach } from '../../../platform/database/index.js';
import { type Kind, CHANNEL_KIND, PERSON_KIND } from '../../../kinds/index.js';
import { recordsIn, RecordsHeldError, writeUnlessHeld, isUnreadable } from '../../../record/index.js';
import { Quarantine, type RefusedWrite } from '../../store/index.js';
import { atMost, literal } from '../../../platform/common/index.js';
import { Metrics } from '../../../platform/observability/index.js';
import { type PresentRecord, isDeliverable } from './present-record.js';

/** The update of one record, by its `_id`. */
export interface RecordWrite extends SingleWrite {
  updateOne: { filter: mongo.Document & { _id: mongo.ObjectId }; update: mongo.Document | mongo.Document[] };
}

/** The indexes of the writes that were not applied. */
interface NotWritten {
  /** They violated a unique index. */
  duplicates: Set<number>;
  /** Their records cannot take them, and are set aside. */
  setAside: Set<number>;
}

/** Writes repairs into the records of other programs. */
@Injectable()
export class RecordWrites {
  constructor(
    @InjectConnection() private readonly connection: Connection,
    private readonly quarantine: Quarantine,
  ) {}

  /**
   * Applies the writes in any order. A record is set aside if the write would make it too large or if the validator of
   * its collection refuses the write, so that the record does not stop the watcher. Throws a RecordsHeldError for
   * records that another program's transaction holds.
   */
  async write(kind: Kind, what: RefusedWrite['what'], writes: RecordWrite[]): Promise<NotWritten> {
    const collection = recordsIn(this.connection, kind);
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

const REMEMBERED = 10_000;

/**
 * Reports records of other programs whose e-mail or channels are too large to be learned. A record is reported again only
 * if it is no longer among the last 10,000.
 */
@Injectable()
export class TooLarge {
  private readonly log = new Logger('Watcher');
  private readonly logged = new LRUCache<string, true>(atMost(REMEMBERED));

  constructor(private readonly metrics: Metrics) {}

  see(kind: Kind, records: PresentRecord[]): void {
    if (kind === PERSON_KIND) this.logTooLarge('email', 'e-mails', records);
    if (kind === CHANNEL_KIND) this.logTooLarge('channels', 'channels', records);
  }

  private logTooLarge(what: keyof PresentRecord['tooLarge'], word: string, records: PresentRecord[]): void {
    const fresh = records
      .filter(({ tooLarge }) => tooLarge[what])
      .map(({ _id }) => String(_id))
      .filter((id) => !this.logged.has(`${what} ${id}`));
    if (fresh.length === 0) return;
    for (const id of fresh) this.logged.set(`${what} ${id}`, true);
    this.metrics.tooLarge.inc({ what }, fresh.length);
    this.log.warn(`${fresh.length} records have ${word} too large to be learned, such as ${fresh[0]}`);
  }
}

/**
 * Other programs may store an `id` that is not valid UTF-8. It is read as a different text, by which the record cannot
 * be found, and several such ids may be read as the same text. Such an `id` is removed, and the record gets a UUID,
 * like any other record without an `id`.
 */
@Injectable()
export class UnreadableIds {
  constructor(private readonly writes: RecordWrites) {}

  /**
   * An `id` that contains U+FFFD is a suspect, but it is valid if the stored bytes are exactly the text that was read.
   * So MongoDB itself compares the two.
   */
  async remove(kind: Kind, records: PresentRecord[]): Promise<void> {
    const suspects = records.filter((record) => isDeliverable(record) && isUnreadable(record.id));
    await this.writes.write(kind, 'id', suspects.map(removal));
  }
}

/** Compares the length too, to detect another `id` that was stored meanwhile. */
function removal({ _id, id, idBytes }: PresentRecord): RecordWrite {
  const isText = { $eq: [{ $type: '$id' }, 'string'] };
  const isOther = { $ne: ['$id', literal(id)] };
  const isAsLong = { $eq: [{ $strLenBytes: '$id' }, idBytes] };
  const asSeen = { $cond: [isText, { $and: [isOther, isAsLong] }, false] };
  return { updateOne: { filter: { _id, $expr: asSeen }, update: { $unset: { id: '' } } } };
}
