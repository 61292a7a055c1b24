import { Controller, Get, Param, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { type Application, CurrentApplication } from '../../../application/index.js';
import { MaxService } from '../../mark/index.js';
import { hardDeletesOf, type PageRequest, Pages, softDeletesOf, updatesOf } from '../page/index.js';
import { AskedPage } from './asked-page.js';
import { answerMax, Answers } from './answer.js';
import { DescribeFeed, DescribeMax } from './openapi.js';
import { DeletesPage, UpdatesPage } from './openapi-shapes.js';

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
