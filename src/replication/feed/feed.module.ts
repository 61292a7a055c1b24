import { Module } from '@nestjs/common';
import { ApplicationModule } from '../../application/index.js';
import { EffectiveModule } from '../effective/index.js';
import { LedgerModule } from '../ledger/index.js';
import { MarkModule } from '../mark/index.js';
import { ChannelFeedController } from './channel-feed.controller.js';
import { FeedService } from './feed.service.js';
import { FiltersInForce } from './filters-in-force.js';
import { KnownChannels } from './known-channels.js';
import { MemberFeedController } from './member-feed.controller.js';
import { PageQuery } from './page-query.js';
import { ProductFeedController } from './product-feed.controller.js';
import { Retention } from './retention.js';
import { Showing } from './showing.js';

@Module({
  imports: [ApplicationModule, EffectiveModule, LedgerModule, MarkModule],
  controllers: [MemberFeedController, ProductFeedController, ChannelFeedController],
  providers: [FeedService, FiltersInForce, KnownChannels, PageQuery, Retention, Showing],
})
export class FeedModule {}
