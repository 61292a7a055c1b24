import {
  ApiParam,
  ApiQuery,
  ApiProperty,
  ApiSchema,
  ApiHeader,
  ApiOkResponse,
  ApiOperation,
  ApiResponse,
} from '@nestjs/swagger';
import { applyDecorators } from '@nestjs/common';
import { NAME_SCHEMA } from '../../../platform/common/index.js';
import { ProblemOr, Problems } from '../../../platform/http/index.js';
import { InApplication } from '../../../application/index.js';

export const TIMESTAMP = {
  type: 'string',
  format: 'date-time',
  example: '2026-11-20T10:00:00.000Z',
} as const;

const OFFSET_ID = { type: 'string', pattern: '^([0-9a-fA-F]{24})?$' } as const;

/** The path parameters that select the records of a feed. */
const SELECTORS = {
  service: ApiParam({
    name: 'service',
    description:
      'A filter that the operator has registered under this name. `default` needs no registration and filters ' +
      'nothing: every record matches it, so that it has no soft deletes',
    schema: { ...NAME_SCHEMA, example: 'default' },
  }),
  channel: ApiParam({
    name: 'channel',
    description:
      'A channel, as in the `channels` of products, percent-encoded; it needs no registration. A channel that no ' +
      'product has ever had is answered 404',
    schema: { type: 'string', minLength: 1, example: 'web' },
  }),
};

export type SelectorName = keyof typeof SELECTORS;

/** Describes the path parameter that selects the records of a feed. */
export const SelectedBy = (name: SelectorName) => SELECTORS[name];

export const FromParameter = ApiQuery({
  name: 'from',
  required: false,
  schema: { ...TIMESTAMP, example: '2026-11-19T10:00:00.000Z' },
  description: '`lastupdated > from`: the `to` of the previous harvest. If omitted, from the beginning',
});

export const LimitParameter = ApiQuery({
  name: 'limit',
  required: false,
  description: 'The maximum number of items of a page',
  schema: { type: 'integer', minimum: 1, maximum: 10_000, default: 1000 },
});

/** Describes the 429 of pages. */
export const PagesBusy = () =>
  ProblemOr(429, 'or this credential has the maximum number of pages in progress (`pages-busy`)');

@ApiSchema({ description: 'A record as it is now' })
export class UpdateItem {
  @ApiProperty({ description: 'The id by which other programs know the record' })
  id: string;

  @ApiProperty({ example: 'product' })
  type: string;

  @ApiProperty(TIMESTAMP)
  createDate: string;

  @ApiProperty({ required: false, description: 'Who created the record; absent if the service omits it' })
  createdBy?: string;

  @ApiProperty(TIMESTAMP)
  lastupdated: string;

  @ApiProperty({ type: 'object', additionalProperties: true, description: 'The stored data, key for key' })
  data: object;

  @ApiProperty({
    oneOf: [{ type: 'array', items: { type: 'string' } }, { type: 'string' }],
    required: false,
    description:
      'Always present on products; on members if stored. Absent if the service omits it, a string if the service ' +
      'hashes it',
  })
  channels?: string[] | string;
}

@ApiSchema({ description: 'A record to remove from the copy' })
class DeleteItem {
  @ApiProperty()
  id: string;

  @ApiProperty({ ...TIMESTAMP, description: 'With a capital U, unlike in other items' })
  lastUpdated: string;
}

class Envelope {
  @ApiProperty({ ...OFFSET_ID, description: 'The lastoffsetid of the next page; empty on an empty page' })
  nextoffsetid: string;
}

@ApiSchema({ description: 'A page of `updates`' })
export class UpdatesPage extends Envelope {
  @ApiProperty({ type: [UpdateItem] })
  result: UpdateItem[];
}

@ApiSchema({ description: 'A page of `softdeletes` or `harddeletes`' })
export class DeletesPage extends Envelope {
  @ApiProperty({ type: [DeleteItem] })
  result: DeleteItem[];
}

@ApiSchema({ description: 'How far it is safe to read' })
class SafeOffset {
  @ApiProperty({
    ...TIMESTAMP,
    description:
      'The greatest timestamp of the kind: send it as `to`, and store it as the next `from` when the harvest is complete',
  })
  offset: string;
}

const ToParameter = ApiQuery({
  name: 'to',
  schema: TIMESTAMP,
  description:
    '`lastupdated <= to`. An RFC 3339 date-time, or a date for midnight UTC. If it is ahead of the clock by at most ' +
    'MARK_WAIT, the answer waits until the clock reaches it. If it is further ahead, a first page uses the clock ' +
    'instead, and a request with lastoffsetid is answered 400: send the Tidemark-To of the first page',
});

const LastOffsetId = ApiQuery({
  name: 'lastoffsetid',
  required: false,
  schema: OFFSET_ID,
  description: '`_id > lastoffsetid`: the nextoffsetid of the previous page',
});

const HEADERS = {
  'Tidemark-To': { description: 'The `to` that was used; send it on all further pages', schema: TIMESTAMP },
  Link: {
    description:
      'On a full page, and on one that took long: the next page, rel="next", relative to the URL of the request. It ' +
      'may have an additional parameter `behind`, to be sent unchanged: it says how many items the next page skips',
    schema: { type: 'string' },
  },
} as const;

/** Describes a feed: its window, its page and its errors. */
export function DescribeFeed(
  summary: string,
  page: typeof UpdatesPage | typeof DeletesPage,
  { selector, operationId }: { selector?: SelectorName; operationId?: string } = {},
) {
  return applyDecorators(
    ApiOperation({ summary, ...(operationId && { operationId }) }),
    InApplication(),
    ...(selector === undefined ? [] : [SelectedBy(selector)]),
    ...[ToParameter, FromParameter, LastOffsetId, LimitParameter],
    ApiOkResponse({ description: 'A page', type: page, headers: HEADERS }),
    Problems(400, 401, 404, 410, 500, 503),
    PagesBusy(),
  );
}

export function DescribeMax(summary: string, operationId: string) {
  const ETag = { description: 'For If-None-Match', schema: { type: 'string' as const } };
  return applyDecorators(
    ApiOperation({ summary, operationId }),
    InApplication(),
    ApiHeader({ name: 'If-None-Match', required: false, description: 'The ETag of an earlier answer' }),
    ApiOkResponse({ description: 'How far it is safe to read', type: SafeOffset, headers: { ETag } }),
    ApiResponse({
      status: 304,
      description: 'The offset is unchanged: it has the ETag of If-None-Match',
      headers: { ETag },
    }),
    Problems(400, 401, 404, 429, 500, 503),
  );
}
