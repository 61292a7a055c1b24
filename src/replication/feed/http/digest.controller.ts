import { Controller, Get, Param, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { type Application, CurrentApplication } from '../../../application/index.js';
import { callerOf } from '../../../auth/index.js';
import type { Kind } from '../../../record/index.js';
import { type DigestRequest, Digests } from '../page/index.js';
import { Answers } from './answer.js';
import { AskedDigest } from './asked-digest.js';
import { DigestTurns } from './digest-turns.js';
import { DescribeDigest } from './openapi-digest.js';

/** What a copy of a service comes to, so that a consumer can prove its own (contract §1). */
@ApiTags('replication')
@Controller(':org/:app/api/v1')
export class DigestController {
  constructor(
    private readonly digests: Digests,
    private readonly turns: DigestTurns,
    private readonly answers: Answers,
  ) {}

  @Get('member/:service/digest')
  @DescribeDigest('What the members that match the filter of the service come to, up to a time')
  getMemberDigest(
    @CurrentApplication() application: Application,
    @Param('service') service: string,
    @AskedDigest() request: DigestRequest,
    @Res() response: Response,
  ): Promise<void> {
    return this.answer({ application, request, kind: 'member', service }, response);
  }

  @Get('product/:service/digest')
  @DescribeDigest('What the products that match the filter of the service come to, up to a time')
  getProductDigest(
    @CurrentApplication() application: Application,
    @Param('service') service: string,
    @AskedDigest() request: DigestRequest,
    @Res() response: Response,
  ): Promise<void> {
    return this.answer({ application, request, kind: 'product', service }, response);
  }

  private answer({ kind, service, ...asked }: Asked, response: Response): Promise<void> {
    const { username } = callerOf(response.req);
    return this.turns.take(username, () =>
      this.answers.page(response, (share) => this.digests.open({ ...asked, share }, kind, service)),
    );
  }
}

interface Asked {
  application: Application;
  request: DigestRequest;
  kind: Kind;
  service: string;
}
