import { ApiParam, ApiQuery } from '@nestjs/swagger';
import { NAME_SCHEMA } from '../../../common/index.js';
import { ProblemOr } from '../../../http/index.js';

export const TIMESTAMP = {
  type: 'string',
  format: 'date-time',
  example: '2026-11-20T10:00:00.000Z',
} as const;

export const OFFSET_ID = { type: 'string', pattern: '^([0-9a-fA-F]{24})?$' } as const;

/** By what a feed tells records that belong to it from others. */
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
      'A channel, as products have it in `channels`, percent-encoded; it needs no registration. One that no product ' +
      'has ever carried is 404',
    schema: { type: 'string', minLength: 1, example: 'web' },
  }),
};

export type SelectorName = keyof typeof SELECTORS;

/** Describes the part of a path that says which records a feed shows. */
export const SelectedBy = (name: SelectorName) => SELECTORS[name];

export const FromParameter = ApiQuery({
  name: 'from',
  required: false,
  schema: TIMESTAMP,
  description: '`lastupdated > from`: the `to` of the harvest before. Without it, from the beginning',
});

export const LimitParameter = ApiQuery({
  name: 'limit',
  required: false,
  description: 'Items of a page at most',
  schema: { type: 'integer', minimum: 1, maximum: 10_000, default: 1000 },
});

/** Describes the 429 of pages. */
export const PagesBusy = () =>
  ProblemOr(429, 'or as many pages of this credential are in work as may be (`pages-busy`)');
