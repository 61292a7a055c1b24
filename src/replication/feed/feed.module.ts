import { Module } from '@nestjs/common';
import { ApplicationModule } from '../../application/index.js';
import { EffectiveModule } from '../effective/index.js';
import { LedgerModule } from '../ledger/index.js';
import { MarkModule } from '../mark/index.js';
import { Answers } from './answer.js';
import { ChannelFeedController } from './channel-feed.controller.js';
import { FeedService } from './feed.service.js';
import { FiltersInForce } from './filters-in-force.js';
import { Hearing } from './hearing.js';
import { KnownChannels } from './known-channels.js';
import { Living } from './living.js';
import { MemberFeedController } from './member-feed.controller.js';
import { ItemSizes } from './item-sizes.js';
import { Numbers } from './numbers.js';
import { PageBytes } from './page-bytes.js';
import { Pages } from './pages.js';
import { RawFind } from './raw-find.js';
import { Steps } from './steps.js';
import { WindowLists } from './window-lists.js';
import { ProductFeedController } from './product-feed.controller.js';
import { Retention } from './retention.js';
import { SendingPace } from './sending-pace.js';
import { Showing } from './showing.js';

@Module({
  imports: [ApplicationModule, EffectiveModule, LedgerModule, MarkModule],
  controllers: [MemberFeedController, ProductFeedController, ChannelFeedController],
  providers: [
    Answers,
    FeedService,
    FiltersInForce,
    Hearing,
    ItemSizes,
    KnownChannels,
    Living,
    Numbers,
    PageBytes,
    Pages,
    RawFind,
    Retention,
    SendingPace,
    Showing,
    Steps,
    WindowLists,
  ],
})
export class FeedModule {}
