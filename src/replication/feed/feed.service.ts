import { Inject, Injectable } from '@nestjs/common';
import type { Request } from 'express';
import mongoose, { type mongo } from 'mongoose';
import type { Application } from '../../application/index.js';
import { problems } from '../../common/index.js';
import { SETTINGS, type Settings } from '../../config/index.js';
import { databaseProblem } from '../../database/index.js';
import { deleteItemText, type Kind, updateItemText } from '../../record/index.js';
import { Moments } from '../mark/index.js';
import { FiltersInForce } from './filters-in-force.js';
import { KnownChannels } from './known-channels.js';
import { type Page, pageOf } from './page.js';
import { PageQuery } from './page-query.js';
import { parseParameters } from './parameters.js';
import { carries, matching, notMatching, type Selection, tombstones } from './selection.js';
import { isEmpty, windowAt } from './window.js';

/** Whose page is asked for: the application of the path, and the request with its window. */
export interface Ask {
  application: Application;
  request: Request;
}

type ItemText = (document: mongo.Document) => string;

/** Makes pages: parameters, moment, filter, query, items, in this order. */
@Injectable()
export class FeedService {
  constructor(
    @Inject(SETTINGS) private readonly settings: Settings,
    private readonly moments: Moments,
    private readonly filters: FiltersInForce,
    private readonly channels: KnownChannels,
    private readonly pages: PageQuery,
  ) {}

  /** What changed and matches the service's filter. */
  updates(ask: Ask, kind: Kind, service: string): Promise<Page> {
    return this.page(ask, itemOf(ask, kind), async () => {
      const filter = await this.filters.of(ask.application, kind, service);
      const selection = matching(ask.application, kind, filter);
      return filter === undefined ? { selection } : { selection, service: { kind, name: service } };
    });
  }

  /** What changed and does not match the service's filter; nothing where it filters nothing. */
  softDeletes(ask: Ask, kind: Kind, service: string): Promise<Page> {
    return this.page(ask, deleteItemText, async () => {
      const filter = await this.filters.of(ask.application, kind, service);
      if (filter === undefined) return {};
      return { selection: notMatching(ask.application, kind, filter), service: { kind, name: service } };
    });
  }

  /** What is gone. */
  hardDeletes(ask: Ask, kind: Kind): Promise<Page> {
    return this.page(ask, deleteItemText, () =>
      Promise.resolve({ selection: tombstones(ask.application, kind) }),
    );
  }

  channelUpdates(ask: Ask, channel: string): Promise<Page> {
    return this.page(ask, itemOf(ask, 'product'), async () => {
      await this.channels.assertKnown(ask.application, channel);
      return { selection: matching(ask.application, 'product', carries(channel)) };
    });
  }

  channelSoftDeletes(ask: Ask, channel: string): Promise<Page> {
    return this.page(ask, deleteItemText, async () => {
      await this.channels.assertKnown(ask.application, channel);
      return { selection: notMatching(ask.application, 'product', carries(channel)) };
    });
  }

  private async page({ request }: Ask, itemText: ItemText, select: () => Promise<Selected>): Promise<Page> {
    const asked = parseParameters(request.query, this.settings.limitMax);
    const window = windowAt(asked, await this.moments.current());
    const { selection, service } = await select();
    const nothing = selection === undefined || isEmpty(window);
    const reading = nothing ? [] : this.pages.read(selection, window);
    const documents = await Promise.resolve(reading).catch((error: unknown) => refused(error, service));
    return pageOf(documents, itemText, window, request.path);
  }
}

/** No selection where there can be no items. The service is named where MongoDB may refuse its filter. */
interface Selected {
  selection?: Selection;
  service?: { kind: Kind; name: string };
}

function itemOf({ application }: Ask, kind: Kind): ItemText {
  const withPasswordHash = application.settings?.replicatepasswordhash === true;
  return (document) => updateItemText(kind, document, { withPasswordHash });
}

/** A filter that passed the check may still be refused by MongoDB, such as one with a bad regular expression. */
function refused(error: unknown, service: Selected['service']): never {
  const isRefusal = error instanceof mongoose.mongo.MongoServerError && databaseProblem(error) === undefined;
  throw isRefusal && service !== undefined
    ? problems.serviceMisconfigured(service.kind, service.name)
    : error;
}
