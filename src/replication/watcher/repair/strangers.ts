import type { mongo } from 'mongoose';
import { FIRST_ID, LAST_ID } from '../../../record/index.js';
import { type LogPlace, placeBehind } from '../../protocol/index.js';

/** Records whose `_id` is not an ObjectId. In `$expr` values of all types have one order, which the index of `_id` knows. */
export const STRANGERS = {
  $or: [{ $expr: { $lt: ['$_id', FIRST_ID] } }, { $expr: { $gt: ['$_id', LAST_ID] } }],
};

/** Before any place. */
const BEGINNING: LogPlace = '';

interface Move {
  place: LogPlace;
  change: number;
}

/** How many records of a kind have an `_id` that is not an ObjectId: counted now and then, moved by what the log tells. */
export class StrangersCount {
  count = 0;
  private countedAt = BEGINNING;
  private heardUpTo = BEGINNING;
  private readonly recounts = new Set<Move[]>();

  /**
   * One came (1) or went (-1). What the count has already changes nothing: the stream may be behind it, and tells twice
   * what could not be worked through at once.
   */
  move(place: LogPlace, change: number): void {
    if (place <= this.heardUpTo) return;
    this.heardUpTo = place;
    this.count = Math.max(0, this.count + change);
    for (const moves of this.recounts) moves.push({ place, change });
  }

  /** Takes a count as of a cluster time, with what is heard of meanwhile. Of two the later one is right. */
  async recount(take: () => Promise<{ at: mongo.Timestamp; count: number }>): Promise<void> {
    const moves: Move[] = [];
    this.recounts.add(moves);
    try {
      const { at, count } = await take();
      const place = placeBehind(at);
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
