import type { mongo } from 'mongoose';
import { Injectable } from '@nestjs/common';
import {
  linkTo,
  type PageRequest,
  type Feed,
  feedName,
  FeedSelector,
  type Selected,
  shapeOf,
} from './feed.js';
import type { PageReading, PageReader, ReadPlace } from './page-reader.js';
import { idOf, type PageBeginning, type PageSource, type Page, pageOf, type OpenPage } from './page-items.js';
import { type Window, isEmpty, MOST_BEHIND } from '../query/window.js';
import { type Ask, FeedReader, type Opened, Retention } from './opening.js';

/** The source of a feed's page. `reading` is undefined if there can be no items. */
interface FeedSource extends Pick<PageSource, 'reader' | 'budget'> {
  reading: PageReading | undefined;
}

/**
 * The envelope of contract §1. `nextoffsetid` is the `_id` of the last item, or `""` on an empty page. A line break follows
 * the envelope, so that a shell prompt starts on a new line. A full page links to the next one.
 */
export function feedPage({ reading, ...source }: FeedSource, { window }: PageRequest): Promise<Page> {
  const whole = { ...source, readings: reading === undefined ? [] : [reading], window };
  return pageOf(whole, {
    headers: async (beginning) => {
      const lastoffsetid = await lastOf(whole, beginning);
      return lastoffsetid === undefined ? {} : linkTo(window, { lastoffsetid });
    },
    tail: (end) => `],"nextoffsetid":"${end?.last ?? ''}"}\n`,
  });
}

/**
 * The `_id` of the last item of a full page. For a page that is too large to be held, the `_id`s are read before the
 * documents.
 */
async function lastOf(
  { reader, readings, window }: PageSource,
  { count, end, isAll }: PageBeginning,
): Promise<mongo.ObjectId | undefined> {
  if (end === undefined) return undefined;
  const lastoffsetid = idOf(end.last);
  if (count === window.limit) return lastoffsetid;
  return isAll
    ? undefined
    : reader.last(readings[end.reading]!, { ...window, limit: window.limit - count, lastoffsetid });
}

/**
 * Resolves the window of a page that was linked to before its place was known. The page begins after `behind.items`
 * items. Returns undefined if there are fewer. The count is valid only at the moment `behind.at`. If the page shows
 * another moment, skipping by the count could lose items, so the page begins where the count began, and some items
 * arrive twice.
 */
export async function itemsAfterSkipped(
  reader: PageReader,
  reading: PageReading,
  { behind, ...window }: Window,
): Promise<Window | undefined> {
  const isSameMoment = () => behind?.at.equals(reading.view.at) === true;
  if (behind === undefined || !isSameMoment()) return window;
  const lastoffsetid = await reader.last(reading, { ...window, limit: behind.items }, window.limit);
  if (!isSameMoment()) return window;
  return lastoffsetid && { ...window, lastoffsetid };
}

/** A page that is about to be read: its effective request, and its source. */
interface Begun {
  request: PageRequest;
  selected: Selected;
  reading: Omit<PageReading, 'selection'>;
}

/** Opens the pages of `updates`, `softdeletes` and `harddeletes`. */
@Injectable()
export class Pages {
  constructor(
    private readonly selector: FeedSelector,
    private readonly feeds: FeedReader,
    private readonly retention: Retention,
  ) {}

  open(ask: Ask<PageRequest>, feed: Feed): Promise<OpenPage> {
    const { application, request } = ask;
    const { from, to, lastoffsetid, limit } = request.window;
    const asked = {
      kind: feed.kind,
      from,
      to,
      isFirst: lastoffsetid === undefined,
      continuesFrom: from,
      limit,
    };
    return this.feeds.open(
      ask,
      asked,
      () => this.selector.select(application, feed),
      (opened) => this.begin(ask, feed, opened),
    );
  }

  private begin(
    { application, request: asked, budget }: Ask<PageRequest>,
    feed: Feed,
    { selected, view: all, to }: Opened<Selected>,
  ): Pick<OpenPage, 'page' | 'early'> {
    const request = { ...asked, window: { ...asked.window, to } };
    const { from, lastoffsetid, limit, behind } = request.window;
    const isKept = feed.shows === 'harddeletes' && from !== undefined;
    const view = isKept
      ? this.retention.viewOfKept(all, { tenant: application, kind: feed.kind, from })
      : all;
    const place: ReadPlace = { lastoffsetid, items: limit + (behind?.items ?? 0) };
    const shape = shapeOf(application, feed, selected);
    const reading = { feed: feedName(application, feed), shape, budget, view, place };
    return {
      page: this.page({ request, selected, reading }),
      early: () => earlyLink(request, reading),
    };
  }

  private async page({ request, selected, reading }: Begun): Promise<Page> {
    const { selection } = selected;
    const { window } = request;
    const source = { reader: this.feeds.items, budget: reading.budget };
    if (selection !== undefined && !isEmpty(window)) {
      const whole = Object.assign(reading, { selection });
      const begun = await itemsAfterSkipped(this.feeds.items, whole, window);
      return feedPage({ ...source, reading: begun && whole }, { ...request, window: begun ?? window });
    }
    await reading.view.asOf(() => Promise.resolve());
    return feedPage({ ...source, reading: undefined }, request);
  }
}

/**
 * The link of a page whose headers are sent early. The linked page may link early again only if it has advanced by then, so
 * that a client that follows links reaches the end.
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
