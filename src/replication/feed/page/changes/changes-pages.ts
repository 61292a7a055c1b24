import { Injectable } from '@nestjs/common';
import { later } from '../../../../common/index.js';
import { isEmpty } from '../../query/index.js';
import { type ChangesFeed, nameOf } from '../feed.js';
import { Hearing } from '../hearing.js';
import { orMisconfigured } from '../misconfigured.js';
import { type MomentFound, Openings } from '../openings.js';
import { PageMoment } from '../page-moment.js';
import { PageReader, type PageReading } from '../page-reader.js';
import { PageView, type View } from '../page-view.js';
import type { PageSource } from '../page-items.js';
import { type OpenPage, type Page, pageOf } from '../page.js';
import type { Ask } from '../pages.js';
import { ReadPlaces } from '../read-places.js';
import { type Kept, Retention } from '../retention.js';
import { SECTIONS } from './cursor.js';
import { formOf, linesFormOf, type ShownWindow } from './form.js';
import { CURSOR_EVERY, LINES_TYPE, linesOf, type MayGoOn } from './lines.js';
import type { ChangesRequest } from './request.js';
import { ChangesSelector, type SectionOf, type SelectedChanges } from './selector.js';

/** Further ahead than any clock: such a `to` is read as the database's clock on a first page (contract §1). */
const THE_CLOCK = new Date(8.64e15);

/** A page that is asked for, and whether its reader would still be let in: lines may outlive that. */
interface AskForChanges extends Ask<ChangesRequest> {
  assertLetIn: () => Promise<void>;
}

/** By what each section of a page is read. */
interface ReadBy {
  view: View;
  /** Which hard deletes must still be kept; nothing where it does not matter. */
  kept: Kept | undefined;
  share: PageReading['share'];
  limit: number;
  asLines: boolean;
}

/** Opens pages of `changes`: as of one moment, what matches, what left, and what is gone, one behind the other. */
@Injectable()
export class ChangesPages {
  constructor(
    private readonly selector: ChangesSelector,
    private readonly openings: Openings,
    private readonly moments: PageMoment,
    private readonly retention: Retention,
    private readonly places: ReadPlaces,
    private readonly reader: PageReader,
    private readonly hearing: Hearing,
  ) {}

  /**
   * Throws what a page of the three feeds throws; 410 `history-expired` before anything is sent, also where the page does not
   * come to hard deletes: the window could not be read to its end.
   */
  async open(ask: AskForChanges, feed: ChangesFeed): Promise<OpenPage> {
    const { application, request } = ask;
    const { organizationid, appid } = application;
    const asked = {
      mark: { organizationid, appid, kind: feed.kind },
      to: request.to ?? THE_CLOCK,
      isFirst: request.place === undefined,
      goesOnFrom: announcedIn(request),
    };
    const opening = await this.openings.find(asked, () => this.selector.select(application, feed));
    return this.begin(ask, feed, opening);
  }

  private begin(
    { application, request, share, assertLetIn }: AskForChanges,
    feed: ChangesFeed,
    { selected, wish, shown }: MomentFound<SelectedChanges>,
  ): OpenPage {
    const { from, withDeletes, asLines, place } = request;
    const limit = asLines ? CURSOR_EVERY : request.limit;
    const { to } = shown;
    const view = new PageView(this.moments, this.places, { wish, limit, ...share.reader }, shown);
    const kept = from && { tenant: application, kind: feed.kind, from };
    const window = { to, limit, ...(from && { from }) };
    const sections = isEmpty(window) ? [] : sectionsFrom(request, selected);
    const isWithin = place !== undefined && place.section === sections[0]?.section;
    const source = {
      reader: this.reader,
      readings: sections.map((section) => this.reading(section, { view, kept, share, limit, asLines })),
      window: isWithin ? { ...window, lastoffsetid: place.lastoffsetid } : window,
      share,
    };
    const form = {
      ...{ feed: nameOf(application, { ...feed, shows: 'changes' }), from, to, limit, withDeletes },
      toIsClock: place === undefined ? to < wish.to : place.toIsClock,
      sections: sections.map(({ section }) => section),
    };
    const mayGoOn = async () => {
      await assertLetIn();
      await this.selector.assertServed(application, feed);
    };
    const page = this.page(source, form, { view, kept, mayGoOn: asLines ? mayGoOn : undefined });
    return {
      window: { from, to, isFirst: wish.isFirst },
      page: orMisconfigured(page, feed.kind, selected.service),
      chosenType: asLines ? LINES_TYPE : 'application/json',
      early: () => ({}),
      heard: this.hearing.heard(view.answered),
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
    { view, kept, share, limit, asLines }: ReadBy,
  ): PageReading {
    const isKept = section === 'gone' && kept !== undefined;
    return {
      ...{ ...shown, shape: { ...shape, asLines } },
      ...{ share, view: isKept ? this.retention.viewOfKept(view, kept) : view },
      place: { lastoffsetid: undefined, items: limit },
    };
  }
}

/** The latest time that was announced before, as the request says: also the `to` of a window that it goes on in. */
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
