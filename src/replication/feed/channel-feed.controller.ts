import { Controller, Get, Param, Req, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { type Application, CurrentApplication } from '../../application/index.js';
import { Answers } from './answer.js';
import { FeedService } from './feed.service.js';
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
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    return this.answers.page(response, (share) =>
      this.feeds.channelUpdates({ application, request, share }, channel),
    );
  }

  @Get('softdeletes')
  @DescribeFeed('The products that changed and are not in the channel', DeletesPage, 'channel')
  softDeletes(
    @CurrentApplication() application: Application,
    @Param('channel') channel: string,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    return this.answers.page(response, (share) =>
      this.feeds.channelSoftDeletes({ application, request, share }, channel),
    );
  }
}
