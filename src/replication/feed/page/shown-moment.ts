import type { mongo } from 'mongoose';
import { isMomentGone } from '../../../database/index.js';
import type { PageMoment, Shown, PageWish } from './page-moment.js';
import type { AsOf } from './reading.js';

/** What a page shows: one moment, or what is shown instead where the server lets go of that while the page is read. */
export class ShownMoment {
  constructor(
    private readonly showing: PageMoment,
    private readonly wish: PageWish,
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
