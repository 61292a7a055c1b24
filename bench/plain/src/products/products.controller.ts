import { Controller, Get, Param, Query, UseGuards } from '@nestjs/common';
import { AuthGuard } from '@nestjs/passport';
import { FeedQuery } from '../feed/feed-query.dto.js';
import type { FeedPage } from '../feed/feed.js';
import type { ProductDto } from './product.dto.js';
import { ProductsService } from './products.service.js';

@Controller(':org/:app/api/v1/product')
@UseGuards(AuthGuard('basic'))
export class ProductsController {
  constructor(private readonly products: ProductsService) {}

  @Get('max')
  max(@Param('org') org: string, @Param('app') app: string): Promise<{ offset: Date }> {
    return this.products.max({ org, app });
  }

  @Get('default/updates')
  updates(
    @Param('org') org: string,
    @Param('app') app: string,
    @Query() query: FeedQuery,
  ): Promise<FeedPage<ProductDto>> {
    return this.products.updates({ org, app }, query);
  }
}
