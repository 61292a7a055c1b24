import { capitalized } from '../../../platform/common/index.js';
import { applyDecorators, Controller, Get, Injectable, Res, type Type } from '@nestjs/common';
import { ApiHeader, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { InApplication, type Application, CurrentApplication } from '../../../application/index.js';
import { ProblemOr, Problems } from '../../../platform/http/index.js';
import { TIMESTAMP } from './openapi.js';
import type { Kind } from '../../../kinds/index.js';
import { Documented, KIND_ROUTES, KindOf, type KindRoute, pluralOf } from './kind-route.js';
import { EventStreams } from '../events/event-streams.js';
import { ReadingRights } from '../events/reading-rights.js';

/** Describes `events`: server-sent events, which OpenAPI can describe only as text. */
function DescribeEvents(summary: string, operationId: string) {
  return applyDecorators(
    ApiOperation({ summary, operationId }),
    InApplication(),
    ApiHeader({
      name: 'Last-Event-ID',
      required: false,
      schema: { type: 'string', example: TIMESTAMP.example },
      description:
        'The id of the last event that was received: the current offset is then sent at once only if it differs',
    }),
    ApiOkResponse({
      description:
        'A stream of `event: max`, whose `id` and `data` are the offset that `max` returns: one event at once, then ' +
        'one each time the offset has changed, at most one a second. A comment is sent every 15 s. The events are ' +
        'only signals: if one is missed, nothing is lost',
      content: { 'text/event-stream': { schema: { type: 'string' } } },
    }),
    Problems(400, 401, 404, 500, 503),
    ProblemOr(429, 'or this credential has the maximum number of streams open (`streams-busy`)'),
  );
}

/** An offset in the format of `max`. */
const OFFSET = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

@Injectable()
class Events {
  constructor(
    private readonly streams: EventStreams,
    private readonly rights: ReadingRights,
  ) {}

  /**
   * The stream of a reader without a login of its own, such as the console, ends at the first access check, because its
   * access cannot be checked again.
   */
  protected open(application: Application, kind: Kind, response: Response): void {
    const { req } = response;
    const lastEventId = req.get('Last-Event-ID') ?? '';
    this.streams.open(response, {
      ...this.rights.readerOf(req, application),
      kind,
      lastEventId: OFFSET.test(lastEventId) ? lastEventId : undefined,
    });
  }
}

/** A controller that signals when there are changes of a kind to harvest, but not which (contract §1). */
function eventsOf(route: KindRoute): Type {
  const plural = pluralOf(route);

  @ApiTags('replication')
  @Documented(route)
  @Controller(`:org/:app/api/v1/${route}`)
  class KindEventsController extends Events {
    @Get('events')
    @DescribeEvents(`Signals new changes of the ${plural}`, `listenTo${capitalized(route)}Events`)
    listen(
      @CurrentApplication() application: Application,
      @KindOf(route) kind: Kind,
      @Res() response: Response,
    ): void {
      this.open(application, kind, response);
    }
  }
  return KindEventsController;
}

export const EVENT_CONTROLLERS = KIND_ROUTES.map(eventsOf);
