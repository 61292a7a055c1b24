import { Injectable } from '@nestjs/common';
import { InjectConnection } from '@nestjs/mongoose';
import type { Connection } from 'mongoose';
import { shown } from '../../../common/index.js';
import { alongIndex } from '../../../database/index.js';
import { problems } from '../../../http/index.js';
import { COLLECTION_OF, DELIVERABLE, type Tenant } from '../../../record/index.js';
import { KnownChannels } from '../../ledger/index.js';

const BY_CHANNEL = { organizationid: 1, appid: 1, channels: 1 } as const;

/** Tells a channel without products from a typing error, which would list every product as a soft delete. */
@Injectable()
export class ChannelLookup {
  constructor(
    @InjectConnection() private readonly connection: Connection,
    private readonly channels: KnownChannels,
  ) {}

  /**
   * Throws 404 `unknown-channel`. The records are looked up first, so that a new channel counts at once (contract §1);
   * it is noted here, since its products may have left it again before the watcher looks at them.
   */
  async assertKnown(tenant: Tenant, channel: string): Promise<void> {
    const { organizationid, appid } = tenant;
    const products = this.connection.collection(COLLECTION_OF.product);
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
