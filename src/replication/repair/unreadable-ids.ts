import { Injectable } from '@nestjs/common';
import { literal } from '../../common/index.js';
import { isUnreadable, type Kind } from '../../record/index.js';
import { isDeliverable, type PresentRecord } from './present-record.js';
import { type RecordWrite, RecordWrites } from './record-writes.js';

/**
 * Other programs may store an `id` that is not UTF-8. It reads as another text than it is, so nobody could find it again,
 * and several may read the same. Such an `id` is not a string to anybody: it goes, and the record gets a UUID like any other
 * that has none.
 */
@Injectable()
export class UnreadableIds {
  constructor(private readonly writes: RecordWrites) {}

  /** The text that was read may be in order: MongoDB itself compares it with what is stored. */
  async remove(kind: Kind, records: PresentRecord[]): Promise<void> {
    const suspects = records.filter((record) => isDeliverable(record) && isUnreadable(record.id));
    await this.writes.write(kind, 'id', suspects.map(removal));
  }
}

/** Its length tells it from another `id` that somebody has stored meanwhile. */
function removal({ _id, id, idBytes }: PresentRecord): RecordWrite {
  const isText = { $eq: [{ $type: '$id' }, 'string'] };
  const isOther = { $ne: ['$id', literal(id)] };
  const isAsLong = { $eq: [{ $strLenBytes: '$id' }, idBytes] };
  const asSeen = { $cond: [isText, { $and: [isOther, isAsLong] }, false] };
  return { updateOne: { filter: { _id, $expr: asSeen }, update: { $unset: { id: '' } } } };
}
