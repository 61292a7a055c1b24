import { capitalized } from '../../../platform/common/index.js';
import { applyDecorators, Controller, Get, Injectable, Res, type Type } from '@nestjs/common';
import {
  ApiExtraModels,
  ApiOkResponse,
  ApiOperation,
  ApiProperty,
  ApiQuery,
  ApiSchema,
  getSchemaPath,
  ApiTags,
} from '@nestjs/swagger';
import type { Response } from 'express';
import { CHANNEL_KIND } from '../../../kinds/index.js';
import { Documented, KIND_ROUTES, type KindRoute, pluralOf } from './kind-route.js';
import { InApplication, type Application, CurrentApplication } from '../../../application/index.js';
import { Problems, problems } from '../../../platform/http/index.js';
import { LINES_TYPE } from '../page/changes-lines.js';
import {
  FromParameter,
  LimitParameter,
  SelectedBy,
  type SelectorName,
  TIMESTAMP,
  PagesBusy,
  UpdateItem,
} from './openapi.js';
import { ReadingRights } from '../events/reading-rights.js';
import { ChangesPages } from '../page/changes.js';
import { showsPasswordHash } from '../page/feed.js';
import type { PageBudget } from '../page/page-bytes.js';
import { type AskedChanges, ChangesOf } from './parameters.js';
import { Answers } from './answer.js';

@ApiSchema({ description: 'A record that changed and matches: insert or replace it in the copy' })
class ChangeUpsert extends UpdateItem {
  @ApiProperty({ enum: ['upsert'] })
  op: 'upsert';
}

@ApiSchema({ description: 'A record to remove from the copy' })
class ChangeDelete {
  @ApiProperty({ enum: ['delete'] })
  op: 'delete';

  @ApiProperty()
  id: string;

  @ApiProperty(TIMESTAMP)
  lastupdated: string;

  @ApiProperty({
    enum: ['left', 'gone'],
    description: '`left`: the record exists, but does not match. `gone`: it no longer exists',
  })
  reason: 'left' | 'gone';
}

const CHANGE_ITEM = {
  title: 'ChangeItem',
  oneOf: [ChangeUpsert, ChangeDelete].map((shape) => ({ $ref: getSchemaPath(shape) })),
  discriminator: {
    propertyName: 'op',
    mapping: { upsert: getSchemaPath(ChangeUpsert), delete: getSchemaPath(ChangeDelete) },
  },
};

@ApiSchema({ description: 'A page of `changes`' })
@ApiExtraModels(ChangeUpsert, ChangeDelete)
class ChangesPage {
  @ApiProperty({ type: 'array', items: CHANGE_ITEM })
  result: (ChangeUpsert | ChangeDelete)[];

  @ApiProperty({ ...TIMESTAMP, description: 'The `to` that was used' })
  to: string;

  @ApiProperty({ description: 'The lastoffsetid of the next page; empty on the last one' })
  nextoffsetid: string;

  @ApiProperty({
    required: false,
    format: 'uri-reference',
    description: 'The next page, relative to the URL of the request; not on the last one',
  })
  next?: string;

  @ApiProperty({
    description:
      'Continues after this page: within the window, or, after the end of the window, with the next window',
  })
  cursor: string;
}

const ToParameter = ApiQuery({
  name: 'to',
  required: false,
  schema: TIMESTAMP,
  description:
    '`lastupdated <= to`. If it is omitted, or far ahead of the clock of the database, that clock is used',
});

const NextOffsetId = ApiQuery({
  name: 'lastoffsetid',
  required: false,
  schema: { type: 'string' },
  description:
    'The nextoffsetid of the previous page. It contains the window; from, to and deletes of the first page may be ' +
    'sent with it again, unchanged',
});

const Cursor = ApiQuery({
  name: 'cursor',
  required: false,
  schema: { type: 'string' },
  description: 'The cursor of the previous page, sent with no other parameter than limit',
});

const Deletes = ApiQuery({
  name: 'deletes',
  required: false,
  schema: { type: 'string', enum: ['skip'] },
  description:
    'Only allowed without `from`: `skip` omits deletes, for a consumer that starts with an empty copy',
});

const AS_LINES =
  'With `Accept: application/x-ndjson`: the whole rest of the window, one item a line, a line ' +
  '`{"op":"cursor","cursor":"..."}` after every 1,000 items, and `{"op":"end","to":"...","cursor":"..."}` as the last line';

/** Describes `changes`: its window, its page and its errors. */
function DescribeChanges(summary: string, selector: SelectorName, operationId: string) {
  return applyDecorators(
    ApiOperation({ summary, operationId, description: AS_LINES }),
    ApiExtraModels(ChangesPage),
    InApplication(),
    SelectedBy(selector),
    ...[Cursor, FromParameter, ToParameter, NextOffsetId, Deletes, LimitParameter],
    ApiOkResponse({
      description: 'A page, or lines if `Accept` asks for them',
      content: {
        'application/json': { schema: { $ref: getSchemaPath(ChangesPage) } },
        [LINES_TYPE]: { schema: { type: 'string', description: AS_LINES } },
      },
      headers: { 'Tidemark-To': { description: 'The `to` that was used', schema: TIMESTAMP } },
    }),
    Problems(400, 401, 404, 410, 500, 503),
    PagesBusy(),
  );
}

@Injectable()
class Changes {
  constructor(
    private readonly pages: ChangesPages,
    private readonly answers: Answers,
    private readonly rights: ReadingRights,
  ) {}

  protected answer(
    application: Application,
    { feed, request }: AskedChanges,
    response: Response,
  ): Promise<void> {
    const reader = this.rights.readerOf(response.req, application);
    const assertLetIn = async () => {
      const now = await this.rights.applicationOf(reader);
      if (now === null) throw problems.unauthorized({ wereSent: true });
      // The lines must not continue with password hashes that are hidden by now.
      if (showsPasswordHash(application) && !showsPasswordHash(now)) throw problems.notWatched();
    };
    const opened = (budget: PageBudget) =>
      this.pages.open({ application, request, budget, assertLetIn }, feed);
    return this.answers.page(response, opened);
  }
}

/** A controller of all changes of a kind, including deletes, in one feed (contract §1). */
function changesOf(route: KindRoute): Type {
  const plural = pluralOf(route);

  @ApiTags('replication')
  @Documented(route)
  @Controller(`:org/:app/api/v1/${route}`)
  class KindChangesController extends Changes {
    @Get(':service/changes')
    @DescribeChanges(
      `The ${plural} that changed: those that match the filter, that left it, and that are gone`,
      'service',
      `list${capitalized(route)}Changes`,
    )
    listChanges(
      @CurrentApplication() application: Application,
      @ChangesOf(route) asked: AskedChanges,
      @Res() response: Response,
    ): Promise<void> {
      return this.answer(application, asked, response);
    }
  }
  return KindChangesController;
}

/** All changes of the products of a channel, including deletes, in one feed. */
@ApiTags('replication')
@Controller(':org/:app/api/v1/productbychannel')
class ChannelChangesController extends Changes {
  @Get(':channel/changes')
  @DescribeChanges(
    'The products that changed: those in the channel, that left it, and that are gone',
    'channel',
    'listChannelChanges',
  )
  listChannelChanges(
    @CurrentApplication() application: Application,
    @ChangesOf(CHANNEL_KIND) asked: AskedChanges,
    @Res() response: Response,
  ): Promise<void> {
    return this.answer(application, asked, response);
  }
}

export const CHANGES_CONTROLLERS = [ChannelChangesController, ...KIND_ROUTES.map(changesOf)];
