import { Controller, Get, Param, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { type Application, CurrentApplication } from '../../../application/index.js';
import { FeedService, type PageRequest } from '../page/index.js';
import { AskedPage } from './page-request.js';
import { Answers } from './answer.js';
import { DeletesPage, DescribeFeed, UpdatesPage } from './openapi.js';

/** The feeds of the products in one channel (contract §1). */
@ApiTags('replication')
@Controller(':org/:app/api/v1/productbychannel/:channel')
export class ChannelFeedController {
  constructor(
    private readonly feeds: FeedService,
    private readonly answers: Answers,
  ) {}

  @Get('updates')
  @DescribeFeed('The products that changed and are in the channel', UpdatesPage, 'channel')
  updates(
    @CurrentApplication() application: Application,
    @Param('channel') channel: string,
    @AskedPage() page: PageRequest,
    @Res() response: Response,
  ): Promise<void> {
    return this.answers.page(response, (share) =>
      this.feeds.channelUpdates({ application, page, share }, channel),
    );
  }

  @Get('softdeletes')
  @DescribeFeed('The products that changed and are not in the channel', DeletesPage, 'channel')
  softDeletes(
    @CurrentApplication() application: Application,
    @Param('channel') channel: string,
    @AskedPage() page: PageRequest,
    @Res() response: Response,
  ): Promise<void> {
    return this.answers.page(response, (share) =>
      this.feeds.channelSoftDeletes({ application, page, share }, channel),
    );
  }
}
