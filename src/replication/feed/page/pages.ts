import { Injectable } from '@nestjs/common';
import type { Application } from '../../../application/index.js';
import { isRefusedQuery } from '../../../database/index.js';
import { problems } from '../../../http/index.js';
import type { Kind } from '../../../record/index.js';
import { type InForce, OutdatedServiceError } from '../../filters/index.js';
import { isEmpty, MOST_BEHIND, type Selection, type Window } from '../query/index.js';
import type { ItemShape } from '../transcode/index.js';
import { Hearing } from './hearing.js';
import { ItemSizes } from './item-sizes.js';
import { linkTo } from './link.js';
import type { Share } from './page-bytes.js';
import { PageMoment, type Shown, type PageWish } from './page-moment.js';
import { PageReader } from './page-reader.js';
import { type OpenPage, type Page, pageOf } from './page.js';
import type { AsOf, PageSource } from './reading.js';
import { ShownMoment } from './shown-moment.js';
import { behindItems } from './skipping.js';

/** The page that a request asks for: its path, and the window of its parameters. */
export interface PageRequest {
  path: string;
  window: Window;
}

/** Whose page is asked for: the application of the path, the page, and what it may hold. */
export interface Ask {
  application: Application;
  page: PageRequest;
  share: Share;
}

/** What a feed shows: no selection where there can be no items; a service where MongoDB may refuse its filter. */
interface Selected {
  selection?: Selection;
  service?: InForce & { name: string };
}

/** One feed of an application. */
export interface Feed {
  kind: Kind;
  shape: ItemShape;
  select: () => Promise<Selected>;
  /** Asked after each reading of a window that has a lower bound. */
  assertKept?: (from: Date) => Promise<void>;
}

/** A page that is asked for, with the window that is used. */
interface Wanted {
  ask: Ask;
  feed: Feed;
  window: Window;
}

/** Opens pages: parameters, service, moment, then the reading, in this order. */
@Injectable()
export class Pages {
  constructor(
    private readonly showing: PageMoment,
    private readonly steps: PageReader,
    private readonly sizes: ItemSizes,
    private readonly hearing: Hearing,
  ) {}

  /** Where the filter was changed between its reading and the moment, the page is begun anew with the filter of then. */
  async open(ask: Ask, feed: Feed): Promise<OpenPage> {
    const { window } = ask.page;
    const { organizationid, appid } = ask.application;
    const mark = { organizationid, appid, kind: feed.kind };
    const plain = { mark, to: window.to, isFirst: window.lastoffsetid === undefined };
    for (;;) {
      const selected = await feed.select().catch((error: unknown) => this.unlessOtherwise(plain, error));
      const wish = { ...plain, service: selected.service };
      try {
        const shown = await this.showing.find(wish);
        return this.begin({ ask, feed, window: { ...window, to: shown.to } }, selected, { wish, shown });
      } catch (error) {
        if (!(error instanceof OutdatedServiceError)) throw error;
      }
    }
  }

  /**
   * A link that went out early leads to a page that may link early as well only where it has come further by then, so
   * that whoever follows links comes to an end.
   */
  private begin(
    { ask, feed, window }: Wanted,
    selected: Selected,
    { wish, shown }: { wish: PageWish; shown: Shown },
  ): OpenPage {
    const showing = new ShownMoment(this.showing, wish, shown);
    const { path } = ask.page;
    const { lastoffsetid, limit } = window;
    let place = { lastoffsetid, limit: limit + (window.behind?.items ?? 0) };
    const passed: PageSource['passed'] = (next) =>
      (place = { limit: next.limit, lastoffsetid: next.lastoffsetid });
    const early = () => {
      const behind = { items: place.limit, at: showing.at };
      const isFurther = window.behind === undefined || place.lastoffsetid !== lastoffsetid;
      return isFurther && behind.items <= MOST_BEHIND
        ? linkTo(path, window, { ...place, behind })
        : undefined;
    };
    const { asOf, heard } = this.hearing.listen((read) => showing.asOf(read));
    const page = this.page({ ask, feed, window }, selected, { showing, asOf, passed });
    return { to: shown.to, page, early, heard };
  }

  private async page(
    { ask, feed, window }: Wanted,
    { selection, service }: Selected,
    { showing, asOf: show, passed }: { showing: ShownMoment; asOf: AsOf; passed: PageSource['passed'] },
  ): Promise<Page> {
    const { share, page } = ask;
    const asOf: AsOf = async (read) => {
      share.gone.throwIfAborted();
      const value = await show(read);
      if (window.from !== undefined) await feed.assertKept?.(window.from);
      return value;
    };
    const { steps, sizes } = this;
    try {
      if (selection !== undefined && !isEmpty(window)) {
        const source: PageSource = { steps, sizes, selection, asOf, shape: feed.shape, share, passed };
        const begun = await behindItems(source, window, showing);
        return await pageOf(begun && source, begun ?? window, page.path);
      }
      await asOf(() => Promise.resolve());
      return await pageOf(undefined, window, page.path);
    } catch (error) {
      throw isRefusedQuery(error) && service !== undefined
        ? problems.serviceMisconfigured(feed.kind, service.name)
        : error;
    }
  }

  /** During a first pass nobody knows yet which services and channels there are; and 400 comes before 404. */
  private async unlessOtherwise(wish: Omit<PageWish, 'service'>, error: unknown): Promise<never> {
    await this.showing.assertAllowed(wish);
    throw error;
  }
}
