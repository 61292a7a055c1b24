import { Schema } from 'mongoose';
import type { RecordDocument } from '../record/index.js';

/** Name of the Mongoose model of `products`. */
export const PRODUCT_MODEL = 'Product';

/**
 * Only other programs write this collection. The first two indexes serve the feeds (design §4); the last one finds
 * out whether any product has a channel.
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

/** The models of this module. */
export const productModels = [{ name: PRODUCT_MODEL, schema: productSchema }];
