import { mongo } from 'mongoose';
import { FIRST_ID, LAST_ID } from '../../record/index.js';

/** Records whose `_id` is not an ObjectId. In `$expr` values of all types have one order, which the index of `_id` knows. */
export const STRANGERS = {
  $or: [{ $expr: { $lt: ['$_id', FIRST_ID] } }, { $expr: { $gt: ['$_id', LAST_ID] } }],
};

/** How many records of a kind have an `_id` that is not an ObjectId: counted as of a cluster time, moved by later events. */
export class StrangersCount {
  count = 0;
  private countedAt = new mongo.Timestamp({ t: 0, i: 0 });
  private heard: { at: mongo.Timestamp; change: number }[] | undefined;

  /** One came (1) or went (-1). The count may have it already: the stream comes to an event when it can. */
  move(at: mongo.Timestamp, change: number): void {
    if (at.compare(this.countedAt) <= 0) return;
    this.count = Math.max(0, this.count + change);
    this.heard?.push({ at, change });
  }

  /** Takes a count as of `at`, and what is heard of while it is being taken. */
  async recount(at: mongo.Timestamp, take: () => Promise<number>): Promise<void> {
    this.heard = [];
    try {
      const count = await take();
      const later = this.heard.filter((one) => one.at.compare(at) > 0);
      this.count = later.reduce((sum, { change }) => sum + change, count);
      this.countedAt = at;
    } finally {
      this.heard = undefined;
    }
  }
}
