import { Injectable } from '@nestjs/common';
import {
  type Ended,
  type Within,
  type Section,
  SECTIONS,
  formOf,
  linesFormOf,
  type ShownWindow,
  CURSOR_EVERY,
  LINES_TYPE,
  linesOf,
  type MayGoOn,
} from './changes-lines.js';
import { type Application, DEFAULT_SERVICE, type Filter } from '../../../application/index.js';
import { carries, notMatching, type Selection, tombstones } from '../query/selection.js';
import type { ItemShape } from '../../transcode/index.js';
import { type ChangesFeed, type Feed, feedName, FeedSelector, type Selected, shapeOf } from './feed.js';
import { problems } from '../../../platform/http/index.js';
import { later } from '../../../platform/common/index.js';
import { isEmpty } from '../query/window.js';
import { type Ask, FeedReader, type Kept, type Opened, Retention } from './opening.js';
import type { PageReading, View } from './page-reader.js';
import { type PageSource, type OpenPage, type Page, pageOf } from './page-items.js';

/** The requested form of a page of `changes`. */
interface AskedForm {
  limit: number;
  /** Sends the whole rest of the window, one item per line. `limit` then has no effect. */
  asLines: boolean;
}

/** The page of `changes` that a request asks for. */
export interface ChangesRequest extends AskedForm {
  /** The lower bound of the window; after a finished window, the bound that its cursor holds. */
  from: Date | undefined;
  /** Undefined for the clock of the database. */
  to: Date | undefined;
  withDeletes: boolean;
  /** Undefined on the first page of a window. */
  place: Pick<Within, 'toIsClock' | 'section' | 'lastoffsetid'> | undefined;
}

/** The request that continues after a place. */
export function requestAfter(asked: AskedForm, place: Within | Ended): ChangesRequest {
  const { from } = place;
  if (!('section' in place)) return { ...asked, from, to: undefined, withDeletes: true, place: undefined };
  const { to, toIsClock, withDeletes, section, lastoffsetid } = place;
  return { ...asked, from, to, withDeletes, place: { toIsClock, section, lastoffsetid } };
}

/** One section of `changes`: the equivalent feed, its selection and the shape of its items. */
interface SectionOf {
  section: Section;
  feed: string;
  selection: Selection;
  shape: ItemShape;
}

/** All sections, selected by the same version of the service's filter. */
interface SelectedChanges extends Pick<Selected, 'service'> {
  sections: SectionOf[];
}

/** Selects the documents of `changes`. */
@Injectable()
export class ChangesSelector {
  constructor(private readonly feeds: FeedSelector) {}

  /**
   * Throws if the service can no longer be served. Also throws if it hides fields, or did so when the lines began, and
   * has changed since: the lines must not continue with fields that an edit has hidden. The service is usually cached.
   */
  async assertServed(application: Application, { kind, by }: ChangesFeed, began: Selected): Promise<void> {
    const service = await this.feeds.serviceOf(application, kind, by);
    const hides = service.mask !== undefined || began.service?.mask !== undefined;
    if (hides && service.version !== began.service?.version) throw problems.notWatched();
  }

  /** Throws the errors of {@link FeedSelector.select}. */
  async select(application: Application, { kind, by }: ChangesFeed): Promise<SelectedChanges> {
    const updates: Feed = { kind, shows: 'updates', by };
    const { selection, service } = await this.feeds.select(application, updates);
    const filter = filterOf(by, service);
    const named = (feed: Feed) => feedName(application, feed);
    const shape = shapeOf(application, updates, { ...(service && { service }) });
    return {
      ...(service && { service }),
      sections: [
        {
          section: 'matching',
          feed: named(updates),
          selection: selection!,
          shape: shape.item === 'update' ? { ...shape, item: 'upsert' } : shape,
        },
        ...(filter === undefined
          ? []
          : [
              {
                section: 'left' as const,
                feed: named({ kind, shows: 'softdeletes', by }),
                selection: notMatching(application, kind, filter),
                shape: { item: 'left' } as const,
              },
            ]),
        {
          section: 'gone',
          feed: named({ kind, shows: 'harddeletes' }),
          selection: tombstones(application, kind),
          shape: { item: 'gone' },
        },
      ],
    };
  }
}

/** The filter that records can leave; undefined for `default`, which filters nothing. */
function filterOf(by: ChangesFeed['by'], service: Selected['service']): Filter | undefined {
  if ('channel' in by) return carries(by.channel);
  return by.service === DEFAULT_SERVICE ? undefined : service?.filter;
}

/** A date later than any clock. On a first page such a `to` is read as the database's clock (contract §1). */
const THE_CLOCK = new Date(8.64e15);

/** A requested page, and a check that its reader still has access: lines can outlive that access. */
interface AskForChanges extends Ask<ChangesRequest> {
  assertLetIn: () => Promise<void>;
}

/** The parameters for reading each section of a page. */
interface ReadBy {
  view: View;
  /** The hard deletes that must still be retained; undefined without `from`. */
  kept: Kept | undefined;
  budget: PageReading['budget'];
  limit: number;
  asLines: boolean;
}

/**
 * Opens pages of `changes`. A page shows one moment: first the records that match, then those that left, then the deleted
 * ones.
 */
@Injectable()
export class ChangesPages {
  constructor(
    private readonly selector: ChangesSelector,
    private readonly feeds: FeedReader,
    private readonly retention: Retention,
  ) {}

  /**
   * Throws the errors of a page of the three feeds. 410 `history-expired` is thrown before anything is sent, even if the
   * page does not reach the hard deletes: the window could not be read to its end.
   */
  open(ask: AskForChanges, feed: ChangesFeed): Promise<OpenPage> {
    const { application, request } = ask;
    const asked = {
      ...{ kind: feed.kind, from: request.from, to: request.to ?? THE_CLOCK },
      ...{ isFirst: request.place === undefined, isToOfCursor: request.place !== undefined },
      continuesFrom: announcedIn(request),
      limit: itemsOf(request),
    };
    return this.feeds.open(
      ask,
      asked,
      () => this.selector.select(application, feed),
      (opened) => this.begin(ask, feed, opened),
    );
  }

  private begin(
    { application, request, budget, assertLetIn }: AskForChanges,
    feed: ChangesFeed,
    { selected, view, to, toIsClock }: Opened<SelectedChanges>,
  ): Pick<OpenPage, 'page' | 'chosenType'> {
    const { from, withDeletes, asLines, place } = request;
    const limit = itemsOf(request);
    const kept = from && { tenant: application, kind: feed.kind, from };
    const window = { to, limit, ...(from && { from }) };
    const sections = isEmpty(window) ? [] : sectionsFrom(request, selected);
    const isWithin = place !== undefined && place.section === sections[0]?.section;
    const source = {
      reader: this.feeds.items,
      readings: sections.map((section) => this.reading(section, { view, kept, budget, limit, asLines })),
      window: isWithin ? { ...window, lastoffsetid: place.lastoffsetid } : window,
      budget,
    };
    const form = {
      ...{ feed: feedName(application, { ...feed, shows: 'changes' }), from, to, limit, withDeletes },
      toIsClock: place === undefined ? toIsClock : place.toIsClock,
      sections: sections.map(({ section }) => section),
    };
    const mayGoOn = async () => {
      await assertLetIn();
      await this.selector.assertServed(application, feed, selected);
    };
    return {
      page: this.page(source, form, { view, kept, mayGoOn: asLines ? mayGoOn : undefined }),
      chosenType: asLines ? LINES_TYPE : 'application/json',
    };
  }

  private async page(
    source: PageSource,
    shown: ShownWindow,
    { view, kept, mayGoOn }: Pick<ReadBy, 'view' | 'kept'> & { mayGoOn: MayGoOn | undefined },
  ): Promise<Page> {
    if (kept !== undefined) await this.retention.assertKept(kept);
    if (source.readings.length === 0) await view.asOf(() => Promise.resolve());
    if (mayGoOn === undefined) return pageOf(source, formOf(shown));
    return linesOf(source, linesFormOf(shown), mayGoOn);
  }

  private reading(
    { section, shape, ...shown }: SectionOf,
    { view, kept, budget, limit, asLines }: ReadBy,
  ): PageReading {
    const isKept = section === 'gone' && kept !== undefined;
    return {
      ...{ ...shown, shape: { ...shape, asLines } },
      ...{ budget, view: isKept ? this.retention.viewOfKept(view, kept) : view },
      place: { lastoffsetid: undefined, items: limit },
    };
  }
}

/** The number of items of a page, or between two cursor lines. */
function itemsOf({ asLines, limit }: AskedForm): number {
  return asLines ? CURSOR_EVERY : limit;
}

/**
 * The latest time of the request that must have been announced before: `from` or, inside a window, its `to` if that is
 * later.
 */
function announcedIn({ from, to, place }: ChangesRequest): Date | undefined {
  if (place === undefined || to === undefined) return from;
  return from === undefined ? to : later(from, to);
}

/** The sections that are still to be read. */
function sectionsFrom({ place, withDeletes }: ChangesRequest, { sections }: SelectedChanges): SectionOf[] {
  const first = place === undefined ? 0 : SECTIONS.indexOf(place.section);
  const last = withDeletes ? SECTIONS.length : 1;
  return sections.filter(({ section }) => {
    const at = SECTIONS.indexOf(section);
    return at >= first && at < last;
  });
}
