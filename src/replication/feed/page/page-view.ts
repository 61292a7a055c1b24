import type { mongo } from 'mongoose';
import { isMomentGone } from '../../../database/index.js';
import { problems } from '../../../http/index.js';
import type { PageMoment, PageWish, Shown } from './page-moment.js';
import type { ReadFor, ReadPlaces } from './read-places.js';

/** Whose view it is, and until when. */
export interface Viewer extends ReadFor {
  wish: PageWish;
  /** Whether all that is read must be of one moment: what is added up of two is true of none. */
  ofOneMoment?: boolean;
}

/** What is read of a page's view. */
export type View = Pick<PageView, 'at' | 'asOf'>;

/** What a page shows: one moment, or what is shown instead where the server lets go of that while the page is read. */
export class PageView {
  /** Resolves when the database has answered a read. */
  readonly answered: Promise<void>;
  private tellAnswered = () => {};
  private isBegun = false;

  constructor(
    private readonly moments: PageMoment,
    private readonly places: ReadPlaces,
    private readonly viewer: Viewer,
    private shown: Shown,
  ) {
    this.answered = new Promise((resolve) => (this.tellAnswered = resolve));
  }

  get at(): mongo.Timestamp {
    return this.shown.at;
  }

  /**
   * Reads as of what is shown. Throws what `gone` was aborted with, and 503 `query-timeout` where all must be of one moment and
   * that has gone behind the first read. Before, another one serves as well, else asking again would never help.
   */
  async asOf<T>(read: (at: mongo.Timestamp) => Promise<T>): Promise<T> {
    this.viewer.gone.throwIfAborted();
    return this.places.read(this.viewer, () => this.read(read)).finally(this.tellAnswered);
  }

  private async read<T>(read: (at: mongo.Timestamp) => Promise<T>): Promise<T> {
    const value = await read(this.at).catch(async (error: unknown) => {
      if (!isMomentGone(error)) throw error;
      if (this.isBegun && this.viewer.ofOneMoment === true) throw problems.queryTimeout();
      this.shown = await this.moments.insteadOf(this.shown, this.viewer.wish);
      return read(this.at);
    });
    this.isBegun = true;
    return value;
  }
}
