import { Module } from '@nestjs/common';
import { ApplicationModule } from '../../application/index.js';
import { AuthModule } from '../../auth/index.js';
import { EventsModule } from '../events/index.js';
import { FiltersModule } from '../filters/index.js';
import { LedgerModule } from '../ledger/index.js';
import { MarkModule } from '../mark/index.js';
import { ProgressModule } from '../progress/index.js';
import {
  Answers,
  ChangesController,
  ChannelFeedController,
  DigestController,
  DigestTurns,
  EventsController,
  MemberFeedController,
  PageTurns,
  ProductFeedController,
  SendingPace,
} from './http/index.js';
import {
  ChangesPages,
  ChangesSelector,
  Digests,
  FeedSelector,
  Hearing,
  ItemSizes,
  ChannelLookup,
  Openings,
  PageBytes,
  Pages,
  Retention,
  PageMoment,
  PageReader,
  ReadPlaces,
} from './page/index.js';
import { BatchReader, TombstoneFilter, NumericIdTexts, RawFind, WindowLists } from './query/index.js';

@Module({
  imports: [
    ApplicationModule,
    AuthModule,
    EventsModule,
    FiltersModule,
    LedgerModule,
    MarkModule,
    ProgressModule,
  ],
  controllers: [
    MemberFeedController,
    ProductFeedController,
    ChannelFeedController,
    ChangesController,
    DigestController,
    EventsController,
  ],
  providers: [
    Answers,
    BatchReader,
    ChangesPages,
    ChangesSelector,
    Digests,
    DigestTurns,
    FeedSelector,
    Hearing,
    ItemSizes,
    ChannelLookup,
    TombstoneFilter,
    NumericIdTexts,
    Openings,
    PageBytes,
    Pages,
    PageTurns,
    RawFind,
    Retention,
    SendingPace,
    PageMoment,
    PageReader,
    ReadPlaces,
    WindowLists,
  ],
})
export class FeedModule {}
