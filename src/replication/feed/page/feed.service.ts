import { Injectable } from '@nestjs/common';
import type { Kind } from '../../../record/index.js';
import { FiltersInForce } from '../../filters/index.js';
import { carries, matching, notMatching, tombstones } from '../query/index.js';
import type { ItemShape } from '../transcode/index.js';
import { ChannelLookup } from './channel-lookup.js';
import type { OpenPage } from './page.js';
import { type Ask, Pages } from './pages.js';
import { Retention } from './retention.js';

const DELETES: ItemShape = { item: 'delete' };

/** What each feed shows, of whom, and in which shape. */
@Injectable()
export class FeedService {
  constructor(
    private readonly filters: FiltersInForce,
    private readonly channels: ChannelLookup,
    private readonly retention: Retention,
    private readonly pages: Pages,
  ) {}

  /** What changed and matches the service's filter. */
  updates(ask: Ask, kind: Kind, service: string): Promise<OpenPage> {
    const select = async () => {
      const inForce = await this.filters.find(ask.application, kind, service);
      const selection = matching(ask.application, kind, inForce?.filter);
      return inForce === undefined ? { selection } : { selection, service: { ...inForce, name: service } };
    };
    return this.pages.open(ask, { kind, shape: updatesOf(ask, kind), select });
  }

  /** What changed and does not match the service's filter; nothing where it filters nothing. */
  softDeletes(ask: Ask, kind: Kind, service: string): Promise<OpenPage> {
    const select = async () => {
      const inForce = await this.filters.find(ask.application, kind, service);
      if (inForce === undefined) return {};
      const selection = notMatching(ask.application, kind, inForce.filter);
      return { selection, service: { ...inForce, name: service } };
    };
    return this.pages.open(ask, { kind, shape: DELETES, select });
  }

  /** What is gone. Throws 410 `history-expired` where `from` lies before what is kept. */
  hardDeletes(ask: Ask, kind: Kind): Promise<OpenPage> {
    const { application } = ask;
    const select = () => Promise.resolve({ selection: tombstones(application, kind) });
    const assertKept = (from: Date) => this.retention.assertKept(application, kind, from);
    return this.pages.open(ask, { kind, shape: DELETES, select, assertKept });
  }

  channelUpdates(ask: Ask, channel: string): Promise<OpenPage> {
    const select = async () => {
      await this.channels.assertKnown(ask.application, channel);
      return { selection: matching(ask.application, 'product', carries(channel)) };
    };
    return this.pages.open(ask, { kind: 'product', shape: updatesOf(ask, 'product'), select });
  }

  channelSoftDeletes(ask: Ask, channel: string): Promise<OpenPage> {
    const select = async () => {
      await this.channels.assertKnown(ask.application, channel);
      return { selection: notMatching(ask.application, 'product', carries(channel)) };
    };
    return this.pages.open(ask, { kind: 'product', shape: DELETES, select });
  }
}

function updatesOf({ application }: Ask, kind: Kind): ItemShape {
  const withPasswordHash = application.settings?.replicatepasswordhash === true;
  return { item: 'update', kind, withPasswordHash };
}
