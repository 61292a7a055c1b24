import { inTenant, type KnownChannel } from '../ledger/index.js';
import { isDeliverable, type PresentRecord } from './present-record.js';

/** The channels that these products carry. */
export function carriedChannels(products: PresentRecord[]): KnownChannel[] {
  return products.filter(isDeliverable).flatMap((product) => inTenant(product, product.channels));
}
