import type { KnownChannel } from '../ledger/index.js';
import { isDeliverable, type PresentRecord } from './present-record.js';

/** The channels that these products carry. */
export function carriedChannels(products: PresentRecord[]): KnownChannel[] {
  return products.filter(isDeliverable).flatMap((product) => inTenant(product, product.channels));
}

export function inTenant(
  { organizationid, appid }: { organizationid?: unknown; appid?: unknown },
  channels: string[],
): KnownChannel[] {
  if (typeof organizationid !== 'string' || typeof appid !== 'string') return [];
  return channels.map((channel) => ({ organizationid, appid, channel }));
}
