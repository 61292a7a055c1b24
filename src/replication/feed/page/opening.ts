import { Injectable } from '@nestjs/common';
import { settledWithin } from '../../../common/index.js';
import { Problem, problems } from '../../../http/index.js';
import { isRefusedQuery } from '../../../database/index.js';
import type { Kind, Tenant } from '../../../record/index.js';
import { type InForce, ProgressReader, OutdatedServiceError, Horizon } from '../../store/index.js';
import { PageMoment, type PageWish, type Shown } from './page-moment.js';
import type { View } from './page-reader.js';

/** A query that takes longer is asked about: a look at something small tells a busy database from a frozen one (milliseconds). */
const QUIET_MS = 4000;

/** Tells a page that takes long, whose first query alone may take half a minute, from a database that does not answer. */
@Injectable()
export class Hearing {
  constructor(private readonly progress: ProgressReader) {}

  /** Resolves when the database has answered a read of the page, or anything else meanwhile. */
  async heard(answered: Promise<void>): Promise<void> {
    const inTime = await settledWithin(
      answered.then(() => true),
      QUIET_MS,
    );
    if (inTime === undefined) await Promise.race([answered, this.look()]);
  }

  /** A refusal, such as 503 `preparing`, is an answer as well. */
  private async look(): Promise<void> {
    await this.progress.readAll().catch((error: unknown) => {
      if (!(error instanceof Problem)) throw error;
    });
  }
}

/** Throws 500 `service-misconfigured` where MongoDB refuses the filter of a service (contract §3). */
export function orMisconfigured<T>(
  work: Promise<T>,
  kind: Kind,
  service: { name: string } | undefined,
): Promise<T> {
  return work.catch((error: unknown) => {
    throw isRefusedQuery(error) && service !== undefined
      ? problems.serviceMisconfigured(kind, service.name)
      : error;
  });
}

/** A filter that was edited is met once by a page; one that is edited again and again shall not keep it for ever. */
const MOST_ROUNDS = 5;

/** A page whose filter has not been looked up yet. */
type AskedWish = Omit<PageWish, 'service'>;

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

/** Whose hard deletes, and since when. */
export interface Kept {
  tenant: Tenant;
  kind: Kind;
  from: Date;
}

/**
 * Tells consumers whose last harvest was too long ago that hard deletes are missing (contract §3, 410). The `max` that
 * they start over with never lies before the horizon.
 */
@Injectable()
export class Retention {
  constructor(private readonly horizon: Horizon) {}

  /**
   * Throws 410 `history-expired`. To be asked after the tombstones were read: the horizon moves before anything is
   * removed, so what was read is then known to be whole.
   */
  async assertKept({ tenant, kind, from }: Kept): Promise<void> {
    const horizon = await this.horizon.read(tenant, kind);
    if (horizon !== undefined && from < horizon) throw problems.historyExpired(horizon.toISOString());
  }

  /** A view through which hard deletes are read: each time it is asked whether all of them are still kept. */
  viewOfKept(view: View, kept: Kept): View {
    return {
      get at() {
        return view.at;
      },
      asOf: async (read) => {
        const value = await view.asOf(read);
        await this.assertKept(kept);
        return value;
      },
    };
  }
}
