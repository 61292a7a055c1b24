import type { mongo } from 'mongoose';
import { isMomentGone } from '../../database/index.js';
import type { AsOf } from './reading.js';
import type { Showing, Shown, Wish } from './showing.js';

/** What a page shows: one moment, or what is shown instead where the server lets go of that while the page is read. */
export class Present {
  constructor(
    private readonly showing: Showing,
    private readonly wish: Wish,
    private shown: Shown,
  ) {}

  get at(): mongo.Timestamp {
    return this.shown.at;
  }

  readonly asOf: AsOf = (read) =>
    read(this.at).catch(async (error: unknown) => {
      if (!isMomentGone(error)) throw error;
      this.shown = await this.showing.insteadOf(this.shown, this.wish);
      return read(this.at);
    });
}
