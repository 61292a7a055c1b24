import { Injectable } from '@nestjs/common';
import type { Application } from '../../../application/index.js';
import { isRefusedQuery } from '../../../database/index.js';
import { problems } from '../../../http/index.js';
import { OutdatedServiceError } from '../../filters/index.js';
import { isEmpty, MOST_BEHIND } from '../query/index.js';
import { type Feed, nameOf } from './feed.js';
import { FeedSelector, type Selected, shapeOf } from './feed-selector.js';
import { Hearing } from './hearing.js';
import { linkTo } from './link.js';
import type { Share } from './page-bytes.js';
import { PageMoment, type PageWish } from './page-moment.js';
import { PageReader, type PageReading, type ReadPlace } from './page-reader.js';
import type { PageRequest } from './page-request.js';
import { PageView } from './page-view.js';
import { type OpenPage, type Page, pageOf } from './page.js';
import { ReadPlaces } from './read-places.js';
import { Retention } from './retention.js';
import { behindItems } from './skipping.js';

/** A filter that was edited is met once by a page; one that is edited again and again shall not keep it for ever. */
const MOST_ROUNDS = 5;

/** Whose page is asked for: the application of the path, the page, and what it may hold. */
export interface Ask {
  application: Application;
  request: PageRequest;
  share: Share;
}

/** A page that is about to be read: with the window that is used, and what it is read of. */
interface Begun {
  feed: Feed;
  request: PageRequest;
  selected: Selected;
  reading: Omit<PageReading, 'selection'>;
}

/** Opens pages: service, moment, then the reading, in this order. */
@Injectable()
export class Pages {
  constructor(
    private readonly selector: FeedSelector,
    private readonly moments: PageMoment,
    private readonly retention: Retention,
    private readonly places: ReadPlaces,
    private readonly reader: PageReader,
    private readonly hearing: Hearing,
  ) {}

  /**
   * Where the filter was changed between its reading and the moment, the page is begun anew with the filter of then, and
   * with what is left of its time. Throws 503 `not-watched` where that happens again and again.
   */
  async open(ask: Ask, feed: Feed): Promise<OpenPage> {
    const { application, request } = ask;
    const { organizationid, appid } = application;
    const { to, lastoffsetid } = request.window;
    const plain = {
      mark: { organizationid, appid, kind: feed.kind },
      to,
      isFirst: lastoffsetid === undefined,
    };
    let since: number | undefined;
    for (let round = 0; round < MOST_ROUNDS; round += 1) {
      const selected = await this.selector
        .select(application, feed)
        .catch((error: unknown) => this.unlessOtherwise(plain, error));
      since ??= performance.now();
      try {
        return await this.begin(ask, feed, {
          selected,
          since,
          wish: { ...plain, service: selected.service },
        });
      } catch (error) {
        if (!(error instanceof OutdatedServiceError)) throw error;
      }
    }
    throw problems.notWatched();
  }

  private async begin(
    { application, request: asked, share }: Ask,
    feed: Feed,
    { selected, since, wish }: { selected: Selected; since: number; wish: PageWish },
  ): Promise<OpenPage> {
    const shown = await this.moments.find(wish, since);
    const request = { ...asked, window: { ...asked.window, to: shown.to } };
    const { from, lastoffsetid, limit, behind } = request.window;
    const kept = feed.shows === 'harddeletes' && from !== undefined;
    const viewer = {
      ...{ wish, limit, gone: share.gone },
      ...(kept && { kept: { tenant: application, kind: feed.kind, from } }),
    };
    const view = new PageView(this.moments, this.retention, this.places, viewer, shown);
    const place: ReadPlace = { lastoffsetid, items: limit + (behind?.items ?? 0) };
    const shape = shapeOf(application, feed);
    const reading = { feed: nameOf(application, feed), shape, share, view, place };
    return {
      to: shown.to,
      page: this.page({ feed, request, selected, reading }),
      early: () => earlyLink(request, reading),
      heard: this.hearing.heard(view.answered),
    };
  }

  private async page({ feed, request, selected, reading }: Begun): Promise<Page> {
    const { selection, service } = selected;
    const { window } = request;
    try {
      if (selection !== undefined && !isEmpty(window)) {
        const whole = Object.assign(reading, { selection });
        const begun = await behindItems(this.reader, whole, window);
        return await pageOf(this.reader, begun && whole, { ...request, window: begun ?? window });
      }
      await reading.view.asOf(() => Promise.resolve());
      return await pageOf(this.reader, undefined, request);
    } catch (error) {
      throw isRefusedQuery(error) && service !== undefined
        ? problems.serviceMisconfigured(feed.kind, service.name)
        : error;
    }
  }

  /** During a first pass nobody knows yet which services and channels there are; and 400 comes before 404. */
  private async unlessOtherwise(wish: Omit<PageWish, 'service'>, error: unknown): Promise<never> {
    await this.moments.assertAllowed(wish);
    throw error;
  }
}

/**
 * A link that goes out early leads to a page that may link early as well only where it has come further by then, so
 * that whoever follows links comes to an end.
 */
function earlyLink(
  { path, window }: PageRequest,
  { place, view }: Pick<PageReading, 'place' | 'view'>,
): Record<string, string> | undefined {
  const { lastoffsetid, items } = place;
  const isFurther = window.behind === undefined || lastoffsetid !== window.lastoffsetid;
  if (!isFurther || items > MOST_BEHIND) return undefined;
  return linkTo(path, window, { lastoffsetid, behind: { items, at: view.at } });
}
