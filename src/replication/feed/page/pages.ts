import { Injectable } from '@nestjs/common';
import type { Application } from '../../../application/index.js';
import { isEmpty, MOST_BEHIND } from '../query/index.js';
import { feedPage } from './feed-page.js';
import { type Feed, nameOf } from './feed.js';
import { FeedSelector, type Selected, shapeOf } from './feed-selector.js';
import { Hearing } from './hearing.js';
import { linkTo } from './link.js';
import { orMisconfigured } from './misconfigured.js';
import { type MomentFound, Openings } from './openings.js';
import type { Share } from './page-bytes.js';
import { PageMoment } from './page-moment.js';
import { PageReader, type PageReading, type ReadPlace } from './page-reader.js';
import type { PageRequest } from './page-request.js';
import { PageView } from './page-view.js';
import type { OpenPage, Page } from './page.js';
import { ReadPlaces } from './read-places.js';
import { Retention } from './retention.js';
import { behindItems } from './skipping.js';

/** Whose page is asked for: the application of the path, the page, and what it may hold. */
export interface Ask<Request = PageRequest> {
  application: Application;
  request: Request;
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
    private readonly openings: Openings,
    private readonly moments: PageMoment,
    private readonly retention: Retention,
    private readonly places: ReadPlaces,
    private readonly reader: PageReader,
    private readonly hearing: Hearing,
  ) {}

  async open(ask: Ask, feed: Feed): Promise<OpenPage> {
    const { application, request } = ask;
    const { organizationid, appid } = application;
    const { from, to, lastoffsetid } = request.window;
    const asked = {
      mark: { organizationid, appid, kind: feed.kind },
      to,
      isFirst: lastoffsetid === undefined,
      goesOnFrom: from,
    };
    const opening = await this.openings.find(asked, () => this.selector.select(application, feed));
    return this.begin(ask, feed, opening);
  }

  private begin(
    { application, request: asked, share }: Ask,
    feed: Feed,
    { selected, wish, shown }: MomentFound<Selected>,
  ): OpenPage {
    const request = { ...asked, window: { ...asked.window, to: shown.to } };
    const { from, lastoffsetid, limit, behind } = request.window;
    const all = new PageView(this.moments, this.places, { wish, limit, ...share.reader }, shown);
    const isKept = feed.shows === 'harddeletes' && from !== undefined;
    const view = isKept
      ? this.retention.viewOfKept(all, { tenant: application, kind: feed.kind, from })
      : all;
    const place: ReadPlace = { lastoffsetid, items: limit + (behind?.items ?? 0) };
    const shape = shapeOf(application, feed);
    const reading = { feed: nameOf(application, feed), shape, share, view, place };
    return {
      window: { from, to: shown.to, isFirst: wish.isFirst },
      page: orMisconfigured(this.page({ feed, request, selected, reading }), feed.kind, selected.service),
      early: () => earlyLink(request, reading),
      heard: this.hearing.heard(all.answered),
    };
  }

  private async page({ request, selected, reading }: Begun): Promise<Page> {
    const { selection } = selected;
    const { window } = request;
    const source = { reader: this.reader, share: reading.share };
    if (selection !== undefined && !isEmpty(window)) {
      const whole = Object.assign(reading, { selection });
      const begun = await behindItems(this.reader, whole, window);
      return feedPage({ ...source, reading: begun && whole }, { ...request, window: begun ?? window });
    }
    await reading.view.asOf(() => Promise.resolve());
    return feedPage({ ...source, reading: undefined }, request);
  }
}

/**
 * A link that goes out early leads to a page that may link early as well only where it has come further by then, so
 * that whoever follows links comes to an end.
 */
function earlyLink(
  { window }: PageRequest,
  { place, view }: Pick<PageReading, 'place' | 'view'>,
): Record<string, string> | undefined {
  const { lastoffsetid, items } = place;
  const isFurther = window.behind === undefined || lastoffsetid !== window.lastoffsetid;
  if (!isFurther || items > MOST_BEHIND) return undefined;
  return linkTo(window, { lastoffsetid, behind: { items, at: view.at } });
}
