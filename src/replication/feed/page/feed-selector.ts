import { Injectable } from '@nestjs/common';
import type { Application } from '../../../application/index.js';
import { FiltersInForce, type InForce } from '../../filters/index.js';
import { carries, matching, notMatching, type Selection, tombstones } from '../query/index.js';
import type { ItemShape } from '../transcode/index.js';
import { ChannelLookup } from './channel-lookup.js';
import type { Feed } from './feed.js';

/** What a feed shows: no selection where there can be no items; a service where MongoDB may refuse its filter. */
export interface Selected {
  selection?: Selection;
  service?: InForce & { name: string };
}

/** Finds out which documents a feed is about. */
@Injectable()
export class FeedSelector {
  constructor(
    private readonly filters: FiltersInForce,
    private readonly channels: ChannelLookup,
  ) {}

  /** Throws 404 `unknown-service` and `unknown-channel`, and 500 `service-misconfigured`. */
  async select(application: Application, { kind, shows, by }: Feed): Promise<Selected> {
    if (by === undefined) return { selection: tombstones(application, kind) };
    const isUpdates = shows === 'updates';
    if ('channel' in by) {
      await this.channels.assertKnown(application, by.channel);
      const select = isUpdates ? matching : notMatching;
      return { selection: select(application, kind, carries(by.channel)) };
    }
    const inForce = await this.filters.find(application, kind, by.service);
    if (inForce === undefined) return isUpdates ? { selection: matching(application, kind) } : {};
    const select = isUpdates ? matching : notMatching;
    const service = { ...inForce, name: by.service };
    return { selection: select(application, kind, inForce.filter), service };
  }
}

/** The shape in which a feed shows its items. */
export function shapeOf({ settings }: Application, { kind, shows }: Feed): ItemShape {
  if (shows !== 'updates') return { item: 'delete' };
  return { item: 'update', kind, withPasswordHash: settings?.replicatepasswordhash === true };
}
