import { applyDecorators } from '@nestjs/common';
import {
  ApiExtraModels,
  ApiOkResponse,
  ApiOperation,
  ApiParam,
  ApiProduces,
  ApiProperty,
  ApiQuery,
  getSchemaPath,
} from '@nestjs/swagger';
import { Problems } from '../../../http/index.js';
import { LINES_TYPE } from '../page/index.js';
import { inApplication, TIMESTAMP, UpdateItem } from './openapi.js';

/** An item of `changes`: a record that changed and matches. */
export class ChangeUpsert extends UpdateItem {
  @ApiProperty({ enum: ['upsert'] })
  op: 'upsert';
}

/** An item of `changes`: a record that is to be deleted from a copy. */
export class ChangeDelete {
  @ApiProperty({ enum: ['delete'] })
  op: 'delete';

  @ApiProperty()
  id: string;

  @ApiProperty(TIMESTAMP)
  lastupdated: string;

  @ApiProperty({
    enum: ['left', 'gone'],
    description: '`left`: it is there and does not match. `gone`: it is no more',
  })
  reason: 'left' | 'gone';
}

/** A page of `changes`. */
@ApiExtraModels(ChangeUpsert, ChangeDelete)
export class ChangesPage {
  @ApiProperty({
    type: 'array',
    items: { oneOf: [{ $ref: getSchemaPath(ChangeUpsert) }, { $ref: getSchemaPath(ChangeDelete) }] },
  })
  result: (ChangeUpsert | ChangeDelete)[];

  @ApiProperty({ ...TIMESTAMP, description: 'The `to` that was used' })
  to: string;

  @ApiProperty({ description: 'The lastoffsetid of the next page; empty on the last one' })
  nextoffsetid: string;

  @ApiProperty({
    required: false,
    format: 'uri-reference',
    description: 'The next page; not on the last one',
  })
  next?: string;

  @ApiProperty({ description: 'Goes on behind this page: in the window, or after its end with the next one' })
  cursor: string;
}

/** Describes `changes`: its window, its page and what can go wrong. */
export function DescribeChanges(summary: string, pathParameter: 'service' | 'channel' = 'service') {
  return applyDecorators(
    ApiOperation({ summary }),
    inApplication(),
    ApiParam({ name: pathParameter, schema: { type: 'string' } }),
    ApiQuery({
      name: 'to',
      required: false,
      schema: TIMESTAMP,
      description: '`lastupdated <= to`. Without it, or far ahead: the clock of the database',
    }),
    ApiQuery({ name: 'from', required: false, schema: TIMESTAMP, description: '`lastupdated > from`' }),
    ApiQuery({
      name: 'lastoffsetid',
      required: false,
      schema: { type: 'string' },
      description:
        'The nextoffsetid of the page before. It holds its window, which may stand beside it again',
    }),
    ApiQuery({
      name: 'cursor',
      required: false,
      schema: { type: 'string' },
      description: 'The cursor of the page before, with nothing else but limit',
    }),
    ApiQuery({
      name: 'deletes',
      required: false,
      schema: { type: 'string', enum: ['skip'] },
      description: 'Without `from` only: `skip` leaves deletes out, for whoever starts with an empty copy',
    }),
    ApiQuery({
      name: 'limit',
      required: false,
      schema: { type: 'integer', minimum: 1, maximum: 10_000, default: 1000 },
    }),
    ApiProduces('application/json', LINES_TYPE),
    ApiOkResponse({
      description:
        'As application/x-ndjson: the whole rest of the window, an item a line, a line `{"op":"cursor","cursor":"..."}` after every ' +
        '1,000 items, and `{"op":"end","to":"...","cursor":"..."}` as the last line',
      type: ChangesPage,
      headers: { 'Tidemark-To': { description: 'The `to` that was used', schema: TIMESTAMP } },
    }),
    Problems(400, 401, 404, 410, 429, 500, 503),
  );
}
