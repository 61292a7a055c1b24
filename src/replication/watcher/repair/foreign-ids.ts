import type { mongo } from 'mongoose';
import { FIRST_ID, LAST_ID } from '../../../record/index.js';
import { type LogPlace, placeAfter } from '../../protocol/index.js';

/**
 * Matches records whose `_id` is not an ObjectId. `$expr` compares values of all types in one order, and can use the index
 * of `_id`.
 */
export const FOREIGN_IDS = {
  $or: [{ $expr: { $lt: ['$_id', FIRST_ID] } }, { $expr: { $gt: ['$_id', LAST_ID] } }],
};

/** Precedes any place. */
const BEGINNING: LogPlace = '';

interface Move {
  place: LogPlace;
  change: number;
}

/**
 * Counts the records of a kind whose `_id` is not an ObjectId. They are counted from time to time, and events adjust the
 * count.
 */
export class ForeignIdCount {
  count = 0;
  private countedAt = BEGINNING;
  private heardUpTo = BEGINNING;
  private readonly recounts = new Set<Move[]>();

  /**
   * A record was added (1), deleted (-1) or only changed (0). An event that the count already includes has no effect:
   * the stream may lag behind the count, and events that could not be processed at once are repeated.
   */
  move(place: LogPlace, change: number): void {
    if (place <= this.heardUpTo) return;
    this.heardUpTo = place;
    this.count = Math.max(0, this.count + change);
    for (const moves of this.recounts) moves.push({ place, change });
  }

  /**
   * Takes a count as of a cluster time, and adds the later events that arrived meanwhile. Of two counts, the later one is
   * kept.
   */
  async recount(take: () => Promise<{ at: mongo.Timestamp; count: number }>): Promise<void> {
    const moves: Move[] = [];
    this.recounts.add(moves);
    try {
      const { at, count } = await take();
      const place = placeAfter(at);
      if (place < this.countedAt) return;
      const later = moves.filter((one) => one.place > place);
      this.count = Math.max(
        0,
        later.reduce((sum, { change }) => sum + change, count),
      );
      this.countedAt = place;
      if (this.heardUpTo < place) this.heardUpTo = place;
    } finally {
      this.recounts.delete(moves);
    }
  }
}
