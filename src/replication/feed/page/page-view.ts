import type { mongo } from 'mongoose';
import { isMomentGone } from '../../../database/index.js';
import type { PageMoment, PageWish, Shown } from './page-moment.js';
import type { ReadPlaces } from './read-places.js';

/** Whose view it is, and until when. */
export interface Viewer {
  wish: PageWish;
  /** Items of the page at most. */
  limit: number;
  /** Aborted when the client has gone. */
  gone: AbortSignal;
}

/** What is read of a page's view. */
export type View = Pick<PageView, 'at' | 'asOf'>;

/** What a page shows: one moment, or what is shown instead where the server lets go of that while the page is read. */
export class PageView {
  /** Resolves when the database has answered a read. */
  readonly answered: Promise<void>;
  private tellAnswered = () => {};

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

  /** Reads as of what is shown. Throws what `gone` was aborted with. */
  async asOf<T>(read: (at: mongo.Timestamp) => Promise<T>): Promise<T> {
    const { gone, limit } = this.viewer;
    gone.throwIfAborted();
    return this.places.read(limit, gone, () => this.read(read)).finally(this.tellAnswered);
  }

  private read<T>(read: (at: mongo.Timestamp) => Promise<T>): Promise<T> {
    return read(this.at).catch(async (error: unknown) => {
      if (!isMomentGone(error)) throw error;
      this.shown = await this.moments.insteadOf(this.shown, this.viewer.wish);
      return read(this.at);
    });
  }
}
