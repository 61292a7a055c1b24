import { Inject, Injectable } from '@nestjs/common';
import type { Request } from 'express';
import type { Application } from '../../application/index.js';
import { problems } from '../../common/index.js';
import { SETTINGS, type Settings } from '../../config/index.js';
import { isMomentGone, isRefusedQuery } from '../../database/index.js';
import type { Kind } from '../../record/index.js';
import type { OpenPage } from './answer.js';
import type { ItemShape } from './bytes/index.js';
import { type InForce, OutdatedServiceError } from './filters-in-force.js';
import { Hearing } from './hearing.js';
import { ItemSizes } from './item-sizes.js';
import { type Page, pageOf } from './page.js';
import { parseParameters } from './parameters.js';
import type { AsOf } from './reading.js';
import type { Selection } from './selection.js';
import { Showing, type Shown, type Wish } from './showing.js';
import { Steps } from './steps.js';
import { isEmpty, type Window } from './window.js';

/** Whose page is asked for: the application of the path, the request with its window, and whether anybody waits for it. */
export interface Ask {
  application: Application;
  request: Request;
  gone: AbortSignal;
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
        const window = { ...asked, to: shown.to };
        const { asOf, heard } = this.hearing.of(this.asOf(wish, shown));
        return { to: shown.to, page: this.page({ ask, feed, window }, selected, asOf), heard };
      } catch (error) {
        if (!(error instanceof OutdatedServiceError)) throw error;
      }
    }
  }

  private async page(
    { ask, feed, window }: { ask: Ask; feed: Feed; window: Window },
    { selection, service }: Selected,
    show: AsOf,
  ): Promise<Page> {
    const asOf: AsOf = async (read) => {
      ask.gone.throwIfAborted();
      const value = await show(read);
      if (window.from !== undefined) await feed.assertKept?.(window.from);
      return value;
    };
    const { steps, sizes } = this;
    try {
      if (selection !== undefined && !isEmpty(window))
        return await pageOf({ steps, sizes, selection, asOf, shape: feed.shape }, window, ask.request.path);
      await asOf(() => Promise.resolve());
      return await pageOf(undefined, window, ask.request.path);
    } catch (error) {
      throw isRefusedQuery(error) && service !== undefined
        ? problems.serviceMisconfigured(feed.kind, service.name)
        : error;
    }
  }

  /** Reads as of what is shown; where the server lets go of that meanwhile, as of what is shown instead. */
  private asOf(wish: Wish, first: Shown): AsOf {
    let shown = first;
    return (read) =>
      read(shown.at).catch(async (error: unknown) => {
        if (!isMomentGone(error)) throw error;
        shown = await this.showing.insteadOf(shown, wish);
        return read(shown.at);
      });
  }

  /** During a first pass nobody knows yet which services and channels there are; and 400 comes before 404. */
  private async unlessOtherwise(wish: Omit<Wish, 'service'>, error: unknown): Promise<never> {
    await this.showing.assertAllowed(wish);
    throw error;
  }
}
