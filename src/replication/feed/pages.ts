import { Inject, Injectable } from '@nestjs/common';
import type { Request } from 'express';
import type { Application } from '../../application/index.js';
import { problems } from '../../common/index.js';
import { SETTINGS, type Settings } from '../../config/index.js';
import { isRefusedQuery } from '../../database/index.js';
import type { Kind } from '../../record/index.js';
import type { OpenPage } from './answer.js';
import type { ItemShape } from './bytes/index.js';
import { type InForce, OutdatedServiceError } from './filters-in-force.js';
import { Hearing } from './hearing.js';
import { ItemSizes } from './item-sizes.js';
import { linkTo } from './link.js';
import { type Page, pageOf } from './page.js';
import type { Share } from './page-bytes.js';
import { MOST_BEHIND, parseParameters } from './parameters.js';
import { Present } from './present.js';
import type { AsOf, Source } from './reading.js';
import type { Selection } from './selection.js';
import { Showing, type Shown, type Wish } from './showing.js';
import { behindItems } from './skipping.js';
import { Steps } from './steps.js';
import { isEmpty, type Window } from './window.js';

/** Whose page is asked for: the application of the path, the request with its window, and what it may hold. */
export interface Ask {
  application: Application;
  request: Request;
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
    @Inject(SETTINGS) private readonly settings: Settings,
    private readonly showing: Showing,
    private readonly steps: Steps,
    private readonly sizes: ItemSizes,
    private readonly hearing: Hearing,
  ) {}

  /** Where the filter was changed between its reading and the moment, the page is begun anew with the filter of then. */
  async open(ask: Ask, feed: Feed): Promise<OpenPage> {
    const asked = parseParameters(ask.request.query, this.settings.limitMax);
    const { organizationid, appid } = ask.application;
    const mark = { organizationid, appid, kind: feed.kind };
    const plain = { mark, to: asked.to, isFirst: asked.lastoffsetid === undefined };
    for (;;) {
      const selected = await feed.select().catch((error: unknown) => this.unlessOtherwise(plain, error));
      const wish = { ...plain, service: selected.service };
      try {
        const shown = await this.showing.of(wish);
        return this.begin({ ask, feed, window: { ...asked, to: shown.to } }, selected, { wish, shown });
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
    { wish, shown }: { wish: Wish; shown: Shown },
  ): OpenPage {
    const showing = new Present(this.showing, wish, shown);
    const { path } = ask.request;
    const { lastoffsetid, limit } = window;
    let place = { lastoffsetid, limit: limit + (window.behind?.items ?? 0) };
    const passed: Source['passed'] = (next) =>
      (place = { limit: next.limit, lastoffsetid: next.lastoffsetid });
    const early = () => {
      const behind = { items: place.limit, at: showing.at };
      const isFurther = window.behind === undefined || place.lastoffsetid !== lastoffsetid;
      return isFurther && behind.items <= MOST_BEHIND
        ? linkTo(path, window, { ...place, behind })
        : undefined;
    };
    const { asOf, heard } = this.hearing.of((read) => showing.asOf(read));
    const page = this.page({ ask, feed, window }, selected, { showing, asOf, passed });
    return { to: shown.to, page, early, heard };
  }

  private async page(
    { ask, feed, window }: Wanted,
    { selection, service }: Selected,
    { showing, asOf: show, passed }: { showing: Present; asOf: AsOf; passed: Source['passed'] },
  ): Promise<Page> {
    const { share, request } = ask;
    const asOf: AsOf = async (read) => {
      share.gone.throwIfAborted();
      const value = await show(read);
      if (window.from !== undefined) await feed.assertKept?.(window.from);
      return value;
    };
    const { steps, sizes } = this;
    try {
      if (selection !== undefined && !isEmpty(window)) {
        const source: Source = { steps, sizes, selection, asOf, shape: feed.shape, share, passed };
        const begun = await behindItems(source, window, showing);
        return await pageOf(begun && source, begun ?? window, request.path);
      }
      await asOf(() => Promise.resolve());
      return await pageOf(undefined, window, request.path);
    } catch (error) {
      throw isRefusedQuery(error) && service !== undefined
        ? problems.serviceMisconfigured(feed.kind, service.name)
        : error;
    }
  }

  /** During a first pass nobody knows yet which services and channels there are; and 400 comes before 404. */
  private async unlessOtherwise(wish: Omit<Wish, 'service'>, error: unknown): Promise<never> {
    await this.showing.assertAllowed(wish);
    throw error;
  }
}
