import { Controller, Get, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { type Application, CurrentApplication } from '../../../application/index.js';
import { Authenticator, callerOf, parseBasicHeader } from '../../../auth/index.js';
import type { Kind } from '../../../record/index.js';
import { EventStreams } from '../../events/index.js';
import { DescribeEvents } from './openapi-events.js';

/** An offset as `max` answers it. */
const OFFSET = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

/** Signals that there is something to harvest, and never what (contract §1). */
@ApiTags('replication')
@Controller(':org/:app/api/v1')
export class EventsController {
  constructor(
    private readonly streams: EventStreams,
    private readonly authenticator: Authenticator,
  ) {}

  @Get('member/events')
  @DescribeEvents('Tells when the members can be read further')
  listenToMemberEvents(@CurrentApplication() application: Application, @Res() response: Response): void {
    this.open(application, 'member', response);
  }

  @Get('product/events')
  @DescribeEvents('Tells when the products can be read further')
  listenToProductEvents(@CurrentApplication() application: Application, @Res() response: Response): void {
    this.open(application, 'product', response);
  }

  /** Whoever came in without a login of its own, as the console does, cannot be looked at again, and is told once. */
  private open({ organizationid, appid }: Application, kind: Kind, response: Response): void {
    const { req } = response;
    const login = parseBasicHeader(req.headers.authorization);
    const lastEventId = req.get('Last-Event-ID') ?? '';
    this.streams.open(response, {
      tenant: { organizationid, appid },
      kind,
      username: callerOf(req).username,
      passwordhash: login && this.authenticator.fittingHash(login),
      lastEventId: OFFSET.test(lastEventId) ? lastEventId : undefined,
    });
  }
}
