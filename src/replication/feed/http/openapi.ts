import { applyDecorators } from '@nestjs/common';
import {
  ApiBasicAuth,
  ApiHeader,
  ApiOkResponse,
  ApiOperation,
  ApiParam,
  ApiProperty,
  ApiQuery,
  ApiResponse,
} from '@nestjs/swagger';
import { NAME } from '../../../common/index.js';
import { Problems } from '../../../http/index.js';

export const TIMESTAMP = {
  type: 'string',
  format: 'date-time',
  example: '2026-11-20T10:00:00.000Z',
} as const;
const NAME_SCHEMA = { type: 'string', pattern: NAME.source } as const;
const OFFSET_ID = { type: 'string', pattern: '^([0-9a-fA-F]{24})?$' } as const;

/** An item of `updates`. */
export class UpdateItem {
  @ApiProperty()
  id: string;

  @ApiProperty({ example: 'product' })
  type: string;

  @ApiProperty(TIMESTAMP)
  createDate: string;

  @ApiProperty()
  createdBy: string;

  @ApiProperty(TIMESTAMP)
  lastupdated: string;

  @ApiProperty({ type: 'object', additionalProperties: true, description: 'The stored data, key for key' })
  data: object;

  @ApiProperty({ type: [String], required: false, description: 'Always on products; on members when stored' })
  channels?: string[];
}

/** An item of `softdeletes` and `harddeletes`. */
export class DeleteItem {
  @ApiProperty()
  id: string;

  @ApiProperty(TIMESTAMP)
  lastUpdated: string;
}

class Envelope {
  @ApiProperty({ ...OFFSET_ID, description: 'The lastoffsetid of the next page; empty on an empty page' })
  nextoffsetid: string;
}

export class UpdatesPage extends Envelope {
  @ApiProperty({ type: [UpdateItem] })
  result: UpdateItem[];
}

export class DeletesPage extends Envelope {
  @ApiProperty({ type: [DeleteItem] })
  result: DeleteItem[];
}

/** The answer of `max`. */
export class Offset {
  @ApiProperty({ ...TIMESTAMP, description: 'How far it is safe to read' })
  offset: string;
}

export const inApplication = () =>
  applyDecorators(
    ApiBasicAuth(),
    ApiParam({ name: 'org', schema: NAME_SCHEMA, description: 'Organization' }),
    ApiParam({ name: 'app', schema: NAME_SCHEMA, description: 'Application' }),
  );

/** Describes a feed: its window, its page and what can go wrong. */
export function DescribeFeed(
  summary: string,
  page: typeof UpdatesPage | typeof DeletesPage,
  pathParameter?: 'service' | 'channel',
) {
  const window = [
    ApiQuery({
      name: 'to',
      schema: TIMESTAMP,
      description:
        '`lastupdated <= to`. An RFC 3339 date-time, or a date for midnight UTC. One a little ahead of the clock (at ' +
        'most MARK_WAIT) is waited for; one further ahead is read as the clock on a first page, and is 400 together ' +
        'with lastoffsetid: send the Tidemark-To of the first page',
    }),
    ApiQuery({ name: 'from', required: false, schema: TIMESTAMP, description: '`lastupdated > from`' }),
    ApiQuery({
      name: 'lastoffsetid',
      required: false,
      schema: OFFSET_ID,
      description: '`_id > lastoffsetid`: the nextoffsetid of the page before',
    }),
    ApiQuery({
      name: 'limit',
      required: false,
      schema: { type: 'integer', minimum: 1, maximum: 10_000, default: 1000 },
    }),
  ];
  const headers = {
    'Tidemark-To': { description: 'The `to` that was used; send it on all further pages', schema: TIMESTAMP },
    Link: {
      description:
        'On a full page, and on one that took long: the next one, rel="next". Follow it as it is; it may carry a ' +
        'parameter `behind` of its own, which says how many items are counted before the page begins',
      schema: { type: 'string' as const },
    },
  };
  return applyDecorators(
    ApiOperation({ summary }),
    inApplication(),
    ...(pathParameter === undefined ? [] : [ApiParam({ name: pathParameter, schema: { type: 'string' } })]),
    ...window,
    ApiOkResponse({ type: page, headers }),
    Problems(400, 401, 404, 429, 500, 503),
    ...(pathParameter === undefined ? [Problems(410)] : []),
  );
}

/** Describes `max`. */
export function DescribeMax(summary: string) {
  const ETag = { description: 'For If-None-Match', schema: { type: 'string' as const } };
  return applyDecorators(
    ApiOperation({ summary }),
    inApplication(),
    ApiHeader({ name: 'If-None-Match', required: false, description: 'ETag of the answer that is known' }),
    ApiOkResponse({ type: Offset, headers: { ETag } }),
    ApiResponse({ status: 304, description: 'Nothing is newer', headers: { ETag } }),
    Problems(400, 401, 404, 429, 500, 503),
  );
}
