import { capitalized } from '../../../platform/common/index.js';
import { Controller, Get, Injectable, Param, Res, type Type } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import type { Kind } from '../../../kinds/index.js';
import { type Application, CurrentApplication } from '../../../application/index.js';
import {
  channelSoftDeletes,
  channelUpdates,
  type PageRequest,
  hardDeletesOf,
  softDeletesOf,
  updatesOf,
} from '../page/feed.js';
import { Pages } from '../page/pages.js';
import { AskedPage } from './parameters.js';
import { Answers, answerMax } from './answer.js';
import { DescribeFeed, DeletesPage, UpdatesPage, DescribeMax } from './openapi.js';
import { MaxService } from '../max.service.js';
import { Documented, KIND_ROUTES, KindOf, type KindRoute, pluralOf } from './kind-route.js';

/** The feeds of the products in one channel (contract §1). */
@ApiTags('replication')
@Controller(':org/:app/api/v1/productbychannel/:channel')
class ChannelFeedController {
  constructor(
    private readonly pages: Pages,
    private readonly answers: Answers,
  ) {}

  @Get('updates')
  @DescribeFeed('The products that changed and are in the channel', UpdatesPage, { selector: 'channel' })
  listChannelUpdates(
    @CurrentApplication() application: Application,
    @Param('channel') channel: string,
    @AskedPage() request: PageRequest,
    @Res() response: Response,
  ): Promise<void> {
    return this.answers.page(response, (budget) =>
      this.pages.open({ application, request, budget }, channelUpdates(channel)),
    );
  }

  @Get('softdeletes')
  @DescribeFeed('The products that changed and are not in the channel', DeletesPage, { selector: 'channel' })
  listChannelSoftDeletes(
    @CurrentApplication() application: Application,
    @Param('channel') channel: string,
    @AskedPage() request: PageRequest,
    @Res() response: Response,
  ): Promise<void> {
    return this.answers.page(response, (budget) =>
      this.pages.open({ application, request, budget }, channelSoftDeletes(channel)),
    );
  }
}

@Injectable()
class Feeds {
  constructor(
    protected readonly pages: Pages,
    protected readonly marks: MaxService,
    protected readonly answers: Answers,
  ) {}
}

/** A controller of `updates` and `softdeletes` of a kind, which a service filters (contract §1). */
function filteredFeedsOf(route: KindRoute): Type {
  const plural = pluralOf(route);

  @ApiTags('replication')
  @Documented(route)
  @Controller(`:org/:app/api/v1/${route}`)
  class FilteredFeedsController extends Feeds {
    @Get(':service/updates')
    @DescribeFeed(`The ${plural} that changed and match the filter of the service`, UpdatesPage, {
      selector: 'service',
      operationId: `list${capitalized(route)}Updates`,
    })
    listUpdates(
      @CurrentApplication() application: Application,
      @KindOf(route) kind: Kind,
      @Param('service') service: string,
      @AskedPage() request: PageRequest,
      @Res() response: Response,
    ): Promise<void> {
      return this.answers.page(response, (budget) =>
        this.pages.open({ application, request, budget }, updatesOf(kind, service)),
      );
    }

    @Get(':service/softdeletes')
    @DescribeFeed(`The ${plural} that changed and do not match the filter of the service`, DeletesPage, {
      selector: 'service',
      operationId: `list${capitalized(route)}SoftDeletes`,
    })
    listSoftDeletes(
      @CurrentApplication() application: Application,
      @KindOf(route) kind: Kind,
      @Param('service') service: string,
      @AskedPage() request: PageRequest,
      @Res() response: Response,
    ): Promise<void> {
      return this.answers.page(response, (budget) =>
        this.pages.open({ application, request, budget }, softDeletesOf(kind, service)),
      );
    }
  }
  return FilteredFeedsController;
}

/** A controller of `max` and the hard deletes of a kind. */
function wholeFeedsOf(route: KindRoute): Type {
  const plural = pluralOf(route);

  @ApiTags('replication')
  @Documented(route)
  @Controller(`:org/:app/api/v1/${route}`)
  class WholeFeedsController extends Feeds {
    @Get('max')
    @DescribeMax(`How far the ${plural} can be read`, `get${capitalized(route)}Max`)
    getMax(
      @CurrentApplication() application: Application,
      @KindOf(route) kind: Kind,
      @Res() response: Response,
    ): Promise<void> {
      return answerMax(response, this.marks.max(application, kind));
    }

    @Get('harddeletes')
    @DescribeFeed(`The ${plural} that are gone`, DeletesPage, {
      operationId: `list${capitalized(route)}HardDeletes`,
    })
    listHardDeletes(
      @CurrentApplication() application: Application,
      @KindOf(route) kind: Kind,
      @AskedPage() request: PageRequest,
      @Res() response: Response,
    ): Promise<void> {
      return this.answers.page(response, (budget) =>
        this.pages.open({ application, request, budget }, hardDeletesOf(kind)),
      );
    }
  }
  return WholeFeedsController;
}

export const FEED_CONTROLLERS = [
  ChannelFeedController,
  ...KIND_ROUTES.flatMap((route) => [wholeFeedsOf(route), filteredFeedsOf(route)]),
];
