import { Controller, Get, Param, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { type Application, CurrentApplication } from '../../../application/index.js';
import { channelSoftDeletes, channelUpdates, type PageRequest, Pages } from '../page/index.js';
import { AskedPage } from './asked-page.js';
import { Answers } from './answer.js';
import { DescribeFeed } from './openapi.js';
import { DeletesPage, UpdatesPage } from './openapi-shapes.js';

/** The feeds of the products in one channel (contract §1). */
@ApiTags('replication')
@Controller(':org/:app/api/v1/productbychannel/:channel')
export class ChannelFeedController {
  constructor(
    private readonly pages: Pages,
    private readonly answers: Answers,
  ) {}

  @Get('updates')
  @DescribeFeed('The products that changed and are in the channel', UpdatesPage, 'channel')
  listChannelUpdates(
    @CurrentApplication() application: Application,
    @Param('channel') channel: string,
    @AskedPage() request: PageRequest,
    @Res() response: Response,
  ): Promise<void> {
    return this.answers.page(response, (share) =>
      this.pages.open({ application, request, share }, channelUpdates(channel)),
    );
  }

  @Get('softdeletes')
  @DescribeFeed('The products that changed and are not in the channel', DeletesPage, 'channel')
  listChannelSoftDeletes(
    @CurrentApplication() application: Application,
    @Param('channel') channel: string,
    @AskedPage() request: PageRequest,
    @Res() response: Response,
  ): Promise<void> {
    return this.answers.page(response, (share) =>
      this.pages.open({ application, request, share }, channelSoftDeletes(channel)),
    );
  }
}
