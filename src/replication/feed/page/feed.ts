import type { mongo, Connection } from 'mongoose';
import { CHANNEL_KIND, type Kind } from '../../../kinds/index.js';
import { type Tenant, recordsIn, DELIVERABLE } from '../../../record/index.js';
import type { Behind, Window } from '../query/window.js';
import { Injectable } from '@nestjs/common';
import { InjectConnection } from '@nestjs/mongoose';
import { shown } from '../../../platform/common/index.js';
import { alongIndex } from '../../../platform/database/index.js';
import { problems } from '../../../platform/http/index.js';
import { type Application, DEFAULT_SERVICE } from '../../../application/index.js';
import { type InForce, KnownChannels, FiltersInForce } from '../../store/index.js';
import { carries, matching, notMatching, type Selection, tombstones } from '../query/selection.js';
import type { ItemShape } from '../../transcode/index.js';

/** One feed of an application, as a path names it. */
export interface Feed {
  kind: Kind;
  shows: 'updates' | 'softdeletes' | 'harddeletes';
  /** The service or channel that filters the feed; absent for hard deletes. */
  by?: { service: string } | { channel: string };
}

/** All changes of a service or a channel, including deletes, in one feed. */
export interface ChangesFeed {
  kind: Kind;
  by: { service: string } | { channel: string };
}

/** A name that is unique among the feeds and digests of all applications. */
export function feedName(
  { organizationid, appid }: Tenant,
  { kind, shows, by }: Feed | (ChangesFeed & { shows: 'changes' | 'digest' }),
): string {
  return JSON.stringify([organizationid, appid, kind, shows, by]);
}

/** The records that changed and match the service's filter. */
export function updatesOf(kind: Kind, service: string): Feed {
  return { kind, shows: 'updates', by: { service } };
}

/** The records that changed and do not match the service's filter; empty if the service has no filter. */
export function softDeletesOf(kind: Kind, service: string): Feed {
  return { kind, shows: 'softdeletes', by: { service } };
}

/** The deleted records. A page is answered 410 `history-expired` if `from` is earlier than the retained history. */
export function hardDeletesOf(kind: Kind): Feed {
  return { kind, shows: 'harddeletes' };
}

/** The products that changed and are in the channel. */
export function channelUpdates(channel: string): Feed {
  return { kind: CHANNEL_KIND, shows: 'updates', by: { channel } };
}

/** The products that changed and are not in the channel. */
export function channelSoftDeletes(channel: string): Feed {
  return { kind: CHANNEL_KIND, shows: 'softdeletes', by: { channel } };
}

/**
 * Where the next page begins: after an `_id` or, if the link is sent before the page is read, a number of items after
 * that `_id`.
 */
interface PagePlace {
  lastoffsetid: mongo.ObjectId | undefined;
  behind?: Behind;
}

/**
 * The header that links to another page of the same window (contract §1). It is a query-only reference. A client
 * resolves it against the path that it requested, so a prefix added by a proxy is kept.
 */
export function linkTo({ from, to, limit }: Window, place: PagePlace): Record<string, string> {
  const { lastoffsetid, behind } = place;
  const query = new URLSearchParams({
    ...(from && { from: from.toISOString() }),
    to: to.toISOString(),
    limit: String(limit),
    ...(lastoffsetid && { lastoffsetid: lastoffsetid.toHexString() }),
    ...(behind && { behind: behindText(behind) }),
  });
  return { Link: `<?${query.toString()}>; rel="next"` };
}

function behindText({ items, at }: Behind): string {
  return `${items}-${at.toBigInt().toString(16).padStart(16, '0')}`;
}

/** The page that a request asks for: the window of its parameters. */
export interface PageRequest {
  window: Window;
}

const BY_CHANNEL = { organizationid: 1, appid: 1, channels: 1 } as const;

/** Distinguishes a channel without products from a misspelt one, which would list every product as a soft delete. */
@Injectable()
export class ChannelLookup {
  constructor(
    @InjectConnection() private readonly connection: Connection,
    private readonly channels: KnownChannels,
  ) {}

  /**
   * Throws 404 `unknown-channel`. The records are looked up first, so that a new channel is valid at once (contract
   * §1). The channel is then stored as known, because its products may lose it again before the watcher reads them.
   */
  async assertKnown(tenant: Tenant, channel: string): Promise<void> {
    const { organizationid, appid } = tenant;
    const products = recordsIn(this.connection, CHANNEL_KIND);
    const query = { organizationid, appid, channels: { $eq: channel }, _id: { $type: 'objectId' as const } };
    const carrier = await alongIndex(products, BY_CHANNEL, (hint) =>
      products.findOne(
        { ...query, $and: [DELIVERABLE] },
        { projection: { _id: 1 }, hint, comment: 'tidemark channel' },
      ),
    );
    if (carrier !== null) await this.channels.learn([{ organizationid, appid, channel }]);
    else if (!(await this.channels.isKnown(tenant, channel))) throw problems.unknownChannel(shown(channel));
  }
}

/**
 * What a feed shows. `selection` is absent if there can be no items. `service` determines the fields and, unless a
 * channel selects the records, the filter. It is absent for hard deletes, which have neither.
 */
export interface Selected {
  selection?: Selection;
  service?: InForce;
}

/** Selects the documents of a feed. */
@Injectable()
export class FeedSelector {
  constructor(
    private readonly filters: FiltersInForce,
    private readonly channels: ChannelLookup,
  ) {}

  /**
   * The service of a feed, which is `default` for a channel. Throws 404 `unknown-service`, 500 `service-misconfigured`,
   * and 503 `not-watched` for a `default` whose document has not been read yet.
   */
  serviceOf(application: Application, kind: Kind, by: NonNullable<Feed['by']>): Promise<InForce> {
    return this.filters.find(application, kind, 'channel' in by ? DEFAULT_SERVICE : by.service);
  }

  /** Throws 404 `unknown-channel`, and the errors of {@link serviceOf}. */
  async select(application: Application, { kind, shows, by }: Feed): Promise<Selected> {
    if (by === undefined) return { selection: tombstones(application, kind) };
    const isUpdates = shows === 'updates';
    const select = isUpdates ? matching : notMatching;
    if ('channel' in by) {
      await this.channels.assertKnown(application, by.channel);
      const service = await this.serviceOf(application, kind, by);
      return { selection: select(application, kind, carries(by.channel)), service };
    }
    const service = await this.serviceOf(application, kind, by);
    if (by.service !== DEFAULT_SERVICE)
      return { selection: select(application, kind, service.filter), service };
    return isUpdates ? { selection: matching(application, kind), service } : { service };
  }
}

export function showsPasswordHash({ settings }: Application): boolean {
  return settings?.replicatepasswordhash === true;
}

/** The shape in which a feed shows its items. */
export function shapeOf(
  application: Application,
  { kind, shows }: Feed,
  { service }: Pick<Selected, 'service'>,
): ItemShape {
  if (shows !== 'updates') return { item: 'delete' };
  return { item: 'update', kind, withPasswordHash: showsPasswordHash(application), mask: service?.mask };
}
