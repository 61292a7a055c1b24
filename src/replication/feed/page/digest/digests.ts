import { Injectable } from '@nestjs/common';
import type { Kind } from '../../../../record/index.js';
import { nameOf, updatesOf } from '../feed.js';
import { FeedSelector, type Selected } from '../feed-selector.js';
import { Hearing } from '../hearing.js';
import { orMisconfigured } from '../misconfigured.js';
import { type MomentFound, Openings } from '../openings.js';
import { PageMoment } from '../page-moment.js';
import { PageReader, type PageReading } from '../page-reader.js';
import { PageView } from '../page-view.js';
import type { OpenPage, Page } from '../page.js';
import type { Ask } from '../pages.js';
import { ReadPlaces } from '../read-places.js';
import { type DigestRequest, digestText } from './digest-text.js';

/**
 * The only fields read of a record: those that decide whether it is delivered, and those that are hashed. Each is an
 * expression: MongoDB ends a projection by names once it has met as many fields, and a duplicate name would count as another.
 */
const FIELDS = {
  ...{ _id: 1, organizationid: '$organizationid', appid: '$appid' },
  ...{ id: '$id', lastupdated: '$lastupdated' },
};

/**
 * Opens digests: sums over what `updates` of a service deliver up to `to`, read from one snapshot. A digest that takes longer
 * than the server retains the snapshot fails, or is cut off.
 */
@Injectable()
export class Digests {
  constructor(
    private readonly selector: FeedSelector,
    private readonly openings: Openings,
    private readonly moments: PageMoment,
    private readonly places: ReadPlaces,
    private readonly reader: PageReader,
    private readonly hearing: Hearing,
  ) {}

  /** Throws what the first page of `updates` throws. */
  async open(ask: Ask<DigestRequest>, kind: Kind, service: string): Promise<OpenPage> {
    const { application, request } = ask;
    const { organizationid, appid } = application;
    const asked = { mark: { organizationid, appid, kind }, to: request.to, isFirst: true };
    const feed = updatesOf(kind, service);
    const opening = await this.openings.find(asked, () => this.selector.select(application, feed));
    return this.begin(ask, nameOf(application, { kind, by: { service }, shows: 'digest' }), opening, kind);
  }

  private begin(
    { request, share }: Ask<DigestRequest>,
    feed: string,
    { selected, wish, shown }: MomentFound<Selected>,
    kind: Kind,
  ): OpenPage {
    const { to } = shown;
    const limit = Infinity;
    const viewer = { wish, limit, ...share.reader, ofOneMoment: true };
    const view = new PageView(this.moments, this.places, viewer, shown);
    const reading: PageReading = {
      ...{ feed, share, view, fields: FIELDS },
      selection: selected.selection!,
      shape: { item: 'delete' },
      place: { lastoffsetid: undefined, items: limit },
    };
    const items = this.reader.items(reading, { to, limit });
    const page = begun(digestText(items, { ...request, to }, share));
    return {
      window: { from: undefined, to, isFirst: true },
      page: orMisconfigured(page, kind, selected.service),
      early: () => ({}),
      heard: this.hearing.heard(view.answered),
    };
  }
}

/** What fails before the first piece is there can still be told. */
async function begun(pieces: AsyncGenerator<Buffer, void>): Promise<Page> {
  const first = (await pieces.next()).value as Buffer;
  return { headers: {}, body: beginningWith(first, pieces) };
}

async function* beginningWith(
  first: Buffer,
  pieces: AsyncGenerator<Buffer, void>,
): AsyncGenerator<Buffer, void> {
  yield first;
  yield* pieces;
}
