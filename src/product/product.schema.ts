import { Schema } from 'mongoose';
import type { RecordDocument } from '../record/index.js';

/** Name of the Mongoose model of `products`. */
export const PRODUCT_MODEL = 'Product';

/**
 * Only other programs write this collection. The first two indexes carry the feeds (design §4); the last one answers
 * whether anything carries a channel.
 */
export const productSchema = new Schema<RecordDocument>(
  {},
  { collection: 'products', strict: false, versionKey: false },
)
  .index({ organizationid: 1, appid: 1, _id: 1 })
  .index({ organizationid: 1, appid: 1, lastupdated: 1, _id: 1 })
  .index(
    { organizationid: 1, appid: 1, id: 1 },
    { unique: true, partialFilterExpression: { id: { $type: 'string' } } },
  )
  .index({ organizationid: 1, appid: 1, channels: 1 });

/** The models of the room. */
export const productModels = [{ name: PRODUCT_MODEL, schema: productSchema }];
