import { Controller, Get, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { type Application, CurrentApplication } from '../../../application/index.js';
import { problems } from '../../../http/index.js';
import { ReadingRights } from '../../events/index.js';
import { ChangesPages, type Share } from '../page/index.js';
import { type AskedChanges, ChangesOf } from './asked-changes.js';
import { Answers } from './answer.js';
import { DescribeChanges } from './openapi-changes.js';

/** All that changed, deletes among it, in one feed (contract §1). */
@ApiTags('replication')
@Controller(':org/:app/api/v1')
export class ChangesController {
  constructor(
    private readonly pages: ChangesPages,
    private readonly answers: Answers,
    private readonly rights: ReadingRights,
  ) {}

  @Get('member/:service/changes')
  @DescribeChanges('The members that changed: those that match the filter, that left it, and that are gone')
  listMemberChanges(
    @CurrentApplication() application: Application,
    @ChangesOf('member') asked: AskedChanges,
    @Res() response: Response,
  ): Promise<void> {
    return this.answer(application, asked, response);
  }

  @Get('product/:service/changes')
  @DescribeChanges('The products that changed: those that match the filter, that left it, and that are gone')
  listProductChanges(
    @CurrentApplication() application: Application,
    @ChangesOf('product') asked: AskedChanges,
    @Res() response: Response,
  ): Promise<void> {
    return this.answer(application, asked, response);
  }

  @Get('productbychannel/:channel/changes')
  @DescribeChanges(
    'The products that changed: those in the channel, that left it, and that are gone',
    'channel',
  )
  listChannelChanges(
    @CurrentApplication() application: Application,
    @ChangesOf('product') asked: AskedChanges,
    @Res() response: Response,
  ): Promise<void> {
    return this.answer(application, asked, response);
  }

  private answer(
    application: Application,
    { feed, request }: AskedChanges,
    response: Response,
  ): Promise<void> {
    const reader = this.rights.readerOf(response.req, application);
    const assertLetIn = async () => {
      if (!(await this.rights.holds(reader))) throw problems.unauthorized({ wereSent: true });
    };
    const opened = (share: Share) => this.pages.open({ application, request, share, assertLetIn }, feed);
    return this.answers.page(response, opened);
  }
}
