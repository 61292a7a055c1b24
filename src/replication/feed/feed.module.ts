import { Module } from '@nestjs/common';
import { MongooseModule } from '@nestjs/mongoose';
import { ConsumerNotes } from './consumers/consumer-notes.js';
import { consumerModels } from './consumers/consumer-state.js';
import { ApplicationModule } from '../../application/index.js';
import { AuthModule } from '../../auth/index.js';
import { EventStreams } from './events/event-streams.js';
import { ReadingRights } from './events/reading-rights.js';
import { Answers, DigestTurns, PageTurns } from './http/answer.js';
import { CHANGES_CONTROLLERS } from './http/changes.controller.js';
import { FEED_CONTROLLERS } from './http/feeds.controller.js';
import { DIGEST_CONTROLLERS } from './http/digest.controller.js';
import { SCHEMA_CONTROLLERS } from './http/schema.controller.js';
import { EVENT_CONTROLLERS } from './http/events.controller.js';
import { ChangesPages, ChangesSelector } from './page/changes.js';
import { Digests } from './page/digests.js';
import { FeedSelector, ChannelLookup } from './page/feed.js';
import { FeedReader, Retention } from './page/opening.js';
import { NewestDatas } from './page/newest-datas.js';
import { ItemSizes, PageBytes } from './page/page-bytes.js';
import { ReadSlots } from './page/read-slots.js';
import { Pages } from './page/pages.js';
import { PageMoment } from './page/page-moment.js';
import { PageReader } from './page/page-reader.js';
import { BatchReader } from './query/batch-reader.js';
import { WindowLists } from './query/window-lists.js';
import { TombstoneFilter } from './query/tombstone-filter.js';
import { NumericIdTexts, RawFind } from './query/raw-find.js';
import { SchemaModule } from '../schema/index.js';
import { StoreModule } from '../store/index.js';
import { MaxService } from './max.service.js';

/** The feeds and everything that serves their readers. */
@Module({
  imports: [
    ApplicationModule,
    AuthModule,
    StoreModule,
    SchemaModule,
    MongooseModule.forFeature(consumerModels),
  ],
  controllers: [
    ...FEED_CONTROLLERS,
    ...CHANGES_CONTROLLERS,
    ...DIGEST_CONTROLLERS,
    ...EVENT_CONTROLLERS,
    ...SCHEMA_CONTROLLERS,
  ],
  providers: [
    Answers,
    BatchReader,
    ChangesPages,
    ChangesSelector,
    ChannelLookup,
    ConsumerNotes,
    DigestTurns,
    Digests,
    EventStreams,
    FeedSelector,
    FeedReader,
    ItemSizes,
    MaxService,
    NewestDatas,
    NumericIdTexts,
    PageBytes,
    PageMoment,
    PageReader,
    PageTurns,
    Pages,
    RawFind,
    ReadSlots,
    ReadingRights,
    Retention,
    TombstoneFilter,
    WindowLists,
  ],
  exports: [ConsumerNotes, MongooseModule, ReadSlots],
})
export class FeedModule {}
