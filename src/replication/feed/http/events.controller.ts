import { Controller, Get, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { type Application, CurrentApplication } from '../../../application/index.js';
import type { Kind } from '../../../record/index.js';
import { EventStreams, ReadingRights } from '../../events/index.js';
import { DescribeEvents } from './openapi-events.js';

/** An offset as `max` answers it. */
const OFFSET = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

/** Signals that there is something to harvest, and never what (contract §1). */
@ApiTags('replication')
@Controller(':org/:app/api/v1')
export class EventsController {
  constructor(
    private readonly streams: EventStreams,
    private readonly rights: ReadingRights,
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

  /** Whoever came in without a login of its own is told once. */
  private open(application: Application, kind: Kind, response: Response): void {
    const { req } = response;
    const lastEventId = req.get('Last-Event-ID') ?? '';
    this.streams.open(response, {
      ...this.rights.readerOf(req, application),
      kind,
      lastEventId: OFFSET.test(lastEventId) ? lastEventId : undefined,
    });
  }
}
