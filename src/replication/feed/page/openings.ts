import { Injectable } from '@nestjs/common';
import { problems } from '../../../http/index.js';
import { type InForce, OutdatedServiceError } from '../../filters/index.js';
import { PageMoment, type PageWish, type Shown } from './page-moment.js';

/** A filter that was edited is met once by a page; one that is edited again and again shall not keep it for ever. */
const MOST_ROUNDS = 5;

/** A page whose filter has not been looked up yet. */
export type AskedWish = Omit<PageWish, 'service'>;

/** What a page is about, and the moment that it shows. */
export interface MomentFound<S> {
  selected: S;
  wish: PageWish;
  shown: Shown;
}

/** Finds the moment of a page, together with the filter that is in force at it. */
@Injectable()
export class Openings {
  constructor(private readonly moments: PageMoment) {}

  /**
   * Where the filter was changed between its reading and the moment, the page is begun anew with the filter of then, and
   * with what is left of its time. Throws what selecting and {@link PageMoment.find} throw, and 503 `not-watched` where that
   * happens again and again.
   */
  async find<S extends { service?: InForce }>(
    asked: AskedWish,
    select: () => Promise<S>,
  ): Promise<MomentFound<S>> {
    let since: number | undefined;
    for (let round = 0; round < MOST_ROUNDS; round += 1) {
      const selected = await select().catch((error: unknown) => this.unlessOtherwise(asked, error));
      since ??= performance.now();
      const wish = { ...asked, service: selected.service };
      try {
        return { selected, wish, shown: await this.moments.find(wish, since) };
      } catch (error) {
        if (!(error instanceof OutdatedServiceError)) throw error;
      }
    }
    throw problems.notWatched();
  }

  /** During a first pass the services and channels are not known yet; and 400 comes before 404. */
  private async unlessOtherwise(asked: AskedWish, error: unknown): Promise<never> {
    await this.moments.assertAllowed(asked);
    throw error;
  }
}
