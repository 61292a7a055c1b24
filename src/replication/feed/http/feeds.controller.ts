import { Controller, Get, Param, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { type Application, CurrentApplication } from '../../../application/index.js';
import {
  channelSoftDeletes,
  channelUpdates,
  type PageRequest,
  hardDeletesOf,
  softDeletesOf,
  updatesOf,
} from '../page/feed.js';
import { Pages } from '../page/pages.js';
import { AskedPage } from './parameters.js';
import { Answers, answerMax } from './answer.js';
import { DescribeFeed, DeletesPage, UpdatesPage, DescribeMax } from './openapi.js';
import { MaxService } from '../max.service.js';

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

/** The feeds of members (contract §1). */
@ApiTags('replication')
@Controller(':org/:app/api/v1/member')
export class MemberFeedController {
  constructor(
    private readonly pages: Pages,
    private readonly marks: MaxService,
    private readonly answers: Answers,
  ) {}

  @Get('max')
  @DescribeMax('How far the members can be read')
  getMemberMax(@CurrentApplication() application: Application, @Res() response: Response): Promise<void> {
    return answerMax(response, this.marks.max(application, 'member'));
  }

  @Get(':service/updates')
  @DescribeFeed('The members that changed and match the filter of the service', UpdatesPage, 'service')
  listMemberUpdates(
    @CurrentApplication() application: Application,
    @Param('service') service: string,
    @AskedPage() request: PageRequest,
    @Res() response: Response,
  ): Promise<void> {
    return this.answers.page(response, (share) =>
      this.pages.open({ application, request, share }, updatesOf('member', service)),
    );
  }

  @Get(':service/softdeletes')
  @DescribeFeed('The members that changed and do not match the filter of the service', DeletesPage, 'service')
  listMemberSoftDeletes(
    @CurrentApplication() application: Application,
    @Param('service') service: string,
    @AskedPage() request: PageRequest,
    @Res() response: Response,
  ): Promise<void> {
    return this.answers.page(response, (share) =>
      this.pages.open({ application, request, share }, softDeletesOf('member', service)),
    );
  }

  @Get('harddeletes')
  @DescribeFeed('The members that are gone', DeletesPage)
  listMemberHardDeletes(
    @CurrentApplication() application: Application,
    @AskedPage() request: PageRequest,
    @Res() response: Response,
  ): Promise<void> {
    return this.answers.page(response, (share) =>
      this.pages.open({ application, request, share }, hardDeletesOf('member')),
    );
  }
}

/** The feeds of products (contract §1). */
@ApiTags('replication')
@Controller(':org/:app/api/v1/product')
export class ProductFeedController {
  constructor(
    private readonly pages: Pages,
    private readonly marks: MaxService,
    private readonly answers: Answers,
  ) {}

  @Get('max')
  @DescribeMax('How far the products can be read')
  getProductMax(@CurrentApplication() application: Application, @Res() response: Response): Promise<void> {
    return answerMax(response, this.marks.max(application, 'product'));
  }

  @Get(':service/updates')
  @DescribeFeed('The products that changed and match the filter of the service', UpdatesPage, 'service')
  listProductUpdates(
    @CurrentApplication() application: Application,
    @Param('service') service: string,
    @AskedPage() request: PageRequest,
    @Res() response: Response,
  ): Promise<void> {
    return this.answers.page(response, (share) =>
      this.pages.open({ application, request, share }, updatesOf('product', service)),
    );
  }

  @Get(':service/softdeletes')
  @DescribeFeed(
    'The products that changed and do not match the filter of the service',
    DeletesPage,
    'service',
  )
  listProductSoftDeletes(
    @CurrentApplication() application: Application,
    @Param('service') service: string,
    @AskedPage() request: PageRequest,
    @Res() response: Response,
  ): Promise<void> {
    return this.answers.page(response, (share) =>
      this.pages.open({ application, request, share }, softDeletesOf('product', service)),
    );
  }

  @Get('harddeletes')
  @DescribeFeed('The products that are gone', DeletesPage)
  listProductHardDeletes(
    @CurrentApplication() application: Application,
    @AskedPage() request: PageRequest,
    @Res() response: Response,
  ): Promise<void> {
    return this.answers.page(response, (share) =>
      this.pages.open({ application, request, share }, hardDeletesOf('product')),
    );
  }
}
