import { applyDecorators } from '@nestjs/common';
import { ApiHeader, ApiOkResponse, ApiOperation } from '@nestjs/swagger';
import { InApplication } from '../../../application/index.js';
import { ProblemOr, Problems } from '../../../http/index.js';
import { TIMESTAMP } from './openapi-parameters.js';

/** Describes `events`: server-sent events, which OpenAPI knows as a text only. */
export function DescribeEvents(summary: string) {
  return applyDecorators(
    ApiOperation({ summary }),
    InApplication(),
    ApiHeader({
      name: 'Last-Event-ID',
      required: false,
      schema: { type: 'string', example: TIMESTAMP.example },
      description:
        'The id of the last event that was seen: the current one then comes only where it is another',
    }),
    ApiOkResponse({
      description:
        'A stream of `event: max`, whose `id` and `data` are the offset that `max` answers: one at once, then one whenever ' +
        'it has moved, at most one a second. A comment every 15 s. A signal only: missing one loses nothing',
      content: { 'text/event-stream': { schema: { type: 'string' } } },
    }),
    Problems(400, 401, 404, 500, 503),
    ProblemOr(429, 'or as many streams of this credential are open as may be (`streams-busy`)'),
  );
}
