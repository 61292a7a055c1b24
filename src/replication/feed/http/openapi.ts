import { applyDecorators } from '@nestjs/common';
import { ApiHeader, ApiOkResponse, ApiOperation, ApiQuery, ApiResponse } from '@nestjs/swagger';
import { InApplication } from '../../../application/index.js';
import { Problems } from '../../../http/index.js';
import {
  FromParameter,
  LimitParameter,
  OFFSET_ID,
  PagesBusy,
  SelectedBy,
  type SelectorName,
  TIMESTAMP,
} from './openapi-parameters.js';
import { type DeletesPage, SafeOffset, type UpdatesPage } from './openapi-shapes.js';

const ToParameter = ApiQuery({
  name: 'to',
  schema: TIMESTAMP,
  description:
    '`lastupdated <= to`. An RFC 3339 date-time, or a date for midnight UTC. One a little ahead of the clock (at ' +
    'most MARK_WAIT) is waited for; one further ahead is read as the clock on a first page, and is 400 together ' +
    'with lastoffsetid: send the Tidemark-To of the first page',
});

const LastOffsetId = ApiQuery({
  name: 'lastoffsetid',
  required: false,
  schema: OFFSET_ID,
  description: '`_id > lastoffsetid`: the nextoffsetid of the page before',
});

const HEADERS = {
  'Tidemark-To': { description: 'The `to` that was used; send it on all further pages', schema: TIMESTAMP },
  Link: {
    description:
      'On a full page, and on one that took long: the next one, rel="next", relative to the URL of the request. It may carry a ' +
      'parameter `behind` of its own, which says how many items are counted before the page begins',
    schema: { type: 'string' },
  },
} as const;

/** Describes a feed: its window, its page and what can go wrong. */
export function DescribeFeed(
  summary: string,
  page: typeof UpdatesPage | typeof DeletesPage,
  selector?: SelectorName,
) {
  return applyDecorators(
    ApiOperation({ summary }),
    InApplication(),
    ...(selector === undefined ? [] : [SelectedBy(selector)]),
    ...[ToParameter, FromParameter, LastOffsetId, LimitParameter],
    ApiOkResponse({ description: 'A page', type: page, headers: HEADERS }),
    Problems(400, 401, 404, 410, 500, 503),
    PagesBusy(),
  );
}

/** Describes `max`. */
export function DescribeMax(summary: string) {
  const ETag = { description: 'For If-None-Match', schema: { type: 'string' as const } };
  return applyDecorators(
    ApiOperation({ summary }),
    InApplication(),
    ApiHeader({ name: 'If-None-Match', required: false, description: 'ETag of the answer that is known' }),
    ApiOkResponse({ description: 'How far it is safe to read', type: SafeOffset, headers: { ETag } }),
    ApiResponse({ status: 304, description: 'Nothing is newer', headers: { ETag } }),
    Problems(400, 401, 404, 429, 500, 503),
  );
}
