import { Inject, Injectable } from '@nestjs/common';
import type { Request } from 'express';
import mongoose, { type mongo } from 'mongoose';
import type { Application } from '../../application/index.js';
import { problems } from '../../common/index.js';
import { SETTINGS, type Settings } from '../../config/index.js';
import { databaseProblem } from '../../database/index.js';
import { deleteItemText, type Kind, updateItemText } from '../../record/index.js';
import { Moments } from '../mark/index.js';
import { FiltersInForce, type InForce, OutdatedServiceError } from './filters-in-force.js';
import { KnownChannels } from './known-channels.js';
import { type Page, pageOf } from './page.js';
import { PageQuery } from './page-query.js';
import { Retention } from './retention.js';
import { type Asked, parseParameters } from './parameters.js';
import { carries, matching, notMatching, type Selection, tombstones } from './selection.js';
import { Showing } from './showing.js';
import { isEmpty, type Window } from './window.js';

/** Whose page is asked for: the application of the path, and the request with its window. */
export interface Ask {
  application: Application;
  request: Request;
}

type ItemText = (document: mongo.Document) => string;

/** Makes pages: parameters, service, moment, query, items, in this order. */
@Injectable()
export class FeedService {
  constructor(
    @Inject(SETTINGS) private readonly settings: Settings,
    private readonly moments: Moments,
    private readonly filters: FiltersInForce,
    private readonly channels: KnownChannels,
    private readonly showing: Showing,
    private readonly pages: PageQuery,
    private readonly retention: Retention,
  ) {}

  /** What changed and matches the service's filter. */
  updates(ask: Ask, kind: Kind, service: string): Promise<Page> {
    return this.page(ask, kind, itemOf(ask, kind), async () => {
      const inForce = await this.filters.of(ask.application, kind, service);
      const selection = matching(ask.application, kind, inForce?.filter);
      return inForce === undefined ? { selection } : { selection, service: { ...inForce, name: service } };
    });
  }

  /** What changed and does not match the service's filter; nothing where it filters nothing. */
  softDeletes(ask: Ask, kind: Kind, service: string): Promise<Page> {
    return this.page(ask, kind, deleteItemText, async () => {
      const inForce = await this.filters.of(ask.application, kind, service);
      if (inForce === undefined) return {};
      const selection = notMatching(ask.application, kind, inForce.filter);
      return { selection, service: { ...inForce, name: service } };
    });
  }

  /** What is gone. Throws 410 `history-expired` where `from` lies before what is kept. */
  async hardDeletes(ask: Ask, kind: Kind): Promise<Page> {
    const { from } = this.parsed(ask);
    const page = await this.page(ask, kind, deleteItemText, () =>
      Promise.resolve({ selection: tombstones(ask.application, kind) }),
    );
    if (from !== undefined) await this.retention.assertKept(ask.application, kind, from);
    return page;
  }

  channelUpdates(ask: Ask, channel: string): Promise<Page> {
    return this.page(ask, 'product', itemOf(ask, 'product'), async () => {
      await this.channels.assertKnown(ask.application, channel);
      return { selection: matching(ask.application, 'product', carries(channel)) };
    });
  }

  channelSoftDeletes(ask: Ask, channel: string): Promise<Page> {
    return this.page(ask, 'product', deleteItemText, async () => {
      await this.channels.assertKnown(ask.application, channel);
      return { selection: notMatching(ask.application, 'product', carries(channel)) };
    });
  }

  /** Where the filter was changed between its reading and the moment, the page is begun anew with the filter of then. */
  private async page(
    ask: Ask,
    kind: Kind,
    itemText: ItemText,
    select: () => Promise<Selected>,
  ): Promise<Page> {
    const asked = this.parsed(ask);
    for (;;) {
      const selected = await select().catch((error: unknown) => this.unlessPreparing(error));
      try {
        return await this.pageOf(ask, kind, itemText, { ...selected, asked });
      } catch (error) {
        if (!(error instanceof OutdatedServiceError)) throw error;
      }
    }
  }

  private pageOf(
    { application, request }: Ask,
    kind: Kind,
    itemText: ItemText,
    { selection, service, asked }: Selected & { asked: Asked },
  ): Promise<Page> {
    const { organizationid, appid } = application;
    const wish = { mark: { organizationid, appid, kind }, to: asked.to, service };
    return this.showing.show(wish, async (to, snapshot) => {
      const window: Window = { ...asked, to };
      const nothing = selection === undefined || isEmpty(window);
      const reading = nothing ? [] : this.pages.read(selection, window, snapshot);
      const documents = await Promise.resolve(reading).catch((error: unknown) =>
        refused(error, kind, service),
      );
      return pageOf(documents, itemText, window, request.path);
    });
  }

  /** During a first pass nobody knows yet which services and channels there are. */
  private async unlessPreparing(error: unknown): Promise<never> {
    await this.moments.progress();
    throw error;
  }

  private parsed({ request }: Ask): Asked {
    return parseParameters(request.query, this.settings.limitMax);
  }
}

/** No selection where there can be no items. The service is named where MongoDB may refuse its filter. */
interface Selected {
  selection?: Selection;
  service?: InForce & { name: string };
}

function itemOf({ application }: Ask, kind: Kind): ItemText {
  const withPasswordHash = application.settings?.replicatepasswordhash === true;
  return (document) => updateItemText(kind, document, { withPasswordHash });
}

/** A filter that was tried when it came into force may still be refused by MongoDB over other records. */
function refused(error: unknown, kind: Kind, service: Selected['service']): never {
  const isRefusal = error instanceof mongoose.mongo.MongoServerError && databaseProblem(error) === undefined;
  throw isRefusal && service !== undefined ? problems.serviceMisconfigured(kind, service.name) : error;
}
