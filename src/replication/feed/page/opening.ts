import { Injectable } from '@nestjs/common';
import { settledWithin } from '../../../platform/common/index.js';
import { Problem, problems } from '../../../platform/http/index.js';
import { isRefusedQuery } from '../../../platform/database/index.js';
import type { Kind } from '../../../kinds/index.js';
import { type Application, DEFAULT_SERVICE } from '../../../application/index.js';
import type { Tenant } from '../../../record/index.js';
import { type InForce, ProgressReader, OutdatedServiceError, Horizon } from '../../store/index.js';
import { PageMoment, type PageWish, type Shown } from './page-moment.js';
import { PageReader, PageView, type View } from './page-reader.js';
import type { OpenPage } from './page-items.js';
import type { PageBudget } from './page-bytes.js';
import { ReadSlots } from './read-slots.js';

/** After this time without an answer, a small read checks whether the database is busy or unresponsive (milliseconds). */
const QUIET_MS = 4000;

/** Throws 500 `service-misconfigured` if MongoDB refuses the filter of a service (contract §3). */
function orMisconfigured<T>(work: Promise<T>, service: InForce | undefined): Promise<T> {
  return work.catch((error: unknown) => {
    if (service === undefined || service.of.name === DEFAULT_SERVICE || !isRefusedQuery(error)) throw error;
    throw problems.serviceMisconfigured(service.of.kind, service.of.name);
  });
}

/**
 * The maximum number of attempts to find the moment of a page. Each edit of its filter costs one, and repeated edits
 * must not delay a page forever.
 */
const MOST_ROUNDS = 5;

/** A page whose filter has not been looked up yet. */
type AskedWish = Omit<PageWish, 'service'>;

/** The selection of a page, and the moment that the page shows. */
interface MomentFound<S> {
  selected: S;
  wish: PageWish;
  shown: Shown;
}

/**
 * Finds the moment of a page, and the filter in force at that moment. If the filter changes between its lookup and the
 * moment, the page starts again with the current filter and the remaining time. Throws the errors of the selection and of
 * {@link PageMoment.find}, and 503 `not-watched` after repeated changes.
 */
export async function findMoment<S extends { service?: InForce }>(
  moments: PageMoment,
  asked: AskedWish,
  select: () => Promise<S>,
): Promise<MomentFound<S>> {
  let since: number | undefined;
  for (let round = 0; round < MOST_ROUNDS; round += 1) {
    const selected = await select().catch(async (error: unknown) => {
      // Two errors take precedence over that of the selection: 503 `preparing`, because the services and channels are
      // unknown during a first pass, and 400 for the `to`.
      await moments.assertAllowed(asked);
      throw error;
    });
    since ??= performance.now();
    const wish = { ...asked, service: selected.service };
    try {
      return { selected, wish, shown: await moments.find(wish, since) };
    } catch (error) {
      if (!(error instanceof OutdatedServiceError)) throw error;
    }
  }
  throw problems.notWatched();
}

/** A request for a part of a feed: the application of its path, what it asks for, and its memory budget. */
export interface Ask<Request> {
  application: Application;
  request: Request;
  budget: PageBudget;
}

/** The part of a feed that a request asks for. */
interface Asked extends Pick<AskedWish, 'to' | 'isFirst' | 'continuesFrom' | 'isToOfCursor'> {
  kind: Kind;
  from: Date | undefined;
  /** The maximum number of items. */
  limit: number;
  /** Whether all reads must show the same moment. */
  ofOneMoment?: boolean;
}

/** A feed that was opened for a request: its selection, the moment shown as a view, and the effective `to`. */
export interface Opened<S> {
  selected: S;
  view: View;
  to: Date;
  /** Whether the clock of the database was used, because the requested `to` lies ahead of it. */
  toIsClock: boolean;
}

/** What is made of an {@link Opened} feed: the page, and the headers that can be sent before the page is read. */
type Made = Pick<OpenPage, 'page'> & Partial<Pick<OpenPage, 'early' | 'chosenType'>>;

/** The one way to read a feed: it selects the documents, finds the moment that is shown, and then reads. */
@Injectable()
export class FeedReader {
  constructor(
    private readonly moments: PageMoment,
    private readonly places: ReadSlots,
    private readonly progress: ProgressReader,
    /** Reads the items of an opened feed. */
    readonly items: PageReader,
  ) {}

  /** Throws the errors of {@link findMoment}. */
  async open<S extends { service?: InForce }>(
    { application, budget }: Ask<unknown>,
    { kind, from, limit, ofOneMoment, ...asked }: Asked,
    select: () => Promise<S>,
    make: (opened: Opened<S>) => Made,
  ): Promise<OpenPage> {
    const { organizationid, appid } = application;
    const mark = { organizationid, appid, kind };
    const { selected, wish, shown } = await findMoment(this.moments, { mark, ...asked }, select);
    const viewer = { wish, limit, ...budget.reader, ...(ofOneMoment && { ofOneMoment }) };
    const view = new PageView(this.moments, this.places, viewer, shown);
    const { to } = shown;
    const { page, ...made } = make({ selected, view, to, toIsClock: to < asked.to });
    return {
      window: { from, to, isFirst: asked.isFirst },
      page: orMisconfigured(page, selected.service),
      early: () => ({}),
      ...made,
      heard: this.heard(view.answered),
    };
  }

  /**
   * Resolves when a read of the page has ended or, if that is slow, when the database has answered another, small read;
   * rejects if that one fails. The first query of a page alone may take half a minute.
   */
  private async heard(answered: Promise<void>): Promise<void> {
    const inTime = await settledWithin(
      answered.then(() => true),
      QUIET_MS,
    );
    if (inTime === undefined) await Promise.race([answered, this.probe()]);
  }

  /** A refusal, such as 503 `preparing`, also counts as an answer. */
  private async probe(): Promise<void> {
    await this.progress.readMain().catch((error: unknown) => {
      if (!(error instanceof Problem)) throw error;
    });
  }
}

/** The hard deletes of a kind of an application, from a time on. */
export interface Kept {
  tenant: Tenant;
  kind: Kind;
  from: Date;
}

/**
 * Refuses consumers whose last harvest is older than the retained hard deletes (contract §3, 410). They start over with a
 * `max` that is never earlier than the horizon.
 */
@Injectable()
export class Retention {
  constructor(private readonly horizon: Horizon) {}

  /**
   * Throws 410 `history-expired`. Call it after the tombstones were read: the horizon moves before anything is removed, so a
   * passed check proves that the read was complete.
   */
  async assertKept({ tenant, kind, from }: Kept): Promise<void> {
    const horizon = await this.horizon.read(tenant, kind);
    if (horizon !== undefined && from < horizon) throw problems.historyExpired(horizon.toISOString());
  }

  /** A view for reading hard deletes. After each read it checks that all of them are still retained. */
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
