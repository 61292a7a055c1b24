import { Injectable } from '@nestjs/common';
import { InjectModel } from '@nestjs/mongoose';
import { Model } from 'mongoose';
import type { FeedQuery } from '../feed/feed-query.dto.js';
import { type FeedPage, readFeed, readMax } from '../feed/feed.js';
import { ProductDto } from './product.dto.js';
import { Product } from './product.schema.js';

@Injectable()
export class ProductsService {
  constructor(@InjectModel(Product.name) private readonly products: Model<Product>) {}

  max(tenant: { org: string; app: string }): Promise<{ offset: Date }> {
    return readMax(this.products, tenant);
  }

  updates(tenant: { org: string; app: string }, query: FeedQuery): Promise<FeedPage<ProductDto>> {
    return readFeed(this.products, ProductDto, tenant, query);
  }
}
