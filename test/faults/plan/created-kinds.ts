import { BUILT_IN_KINDS, collectionOf, isBuiltIn, type Kind } from '../../../src/kinds/index.js';
import type { Tenant } from '../../../src/record/index.js';

/** The application whose records the writers change. */
export const SHOP: Tenant = { organizationid: 'acme', appid: 'shop' };

/**
 * The kinds that an operator creates: their documents in the collection `kinds`, without the name. The first stores its records
 * as the built-in kinds do. The others have been designed by another program.
 */
export const CREATED_KINDS = {
  order: { collection: 'orders' },
  price: { collection: 'price_list', id: 'sku', lastupdated: 'updatedAt', ...SHOP, data: false },
  offer: { collection: 'offer_book', id: 'number', lastupdated: 'changed', channels: true },
} as const;

export type CreatedKind = keyof typeof CREATED_KINDS;

/** The kinds whose records have other names, or another shape. */
export type DesignedKind = 'price' | 'offer';

export const DESIGNED_KINDS: readonly DesignedKind[] = ['price', 'offer'];

/** The kind that is created in the middle of a history. */
export const LATE_KIND = 'offer';

/** The kinds whose records look like those of built-in kinds. */
export const HOUSE_KINDS: readonly Kind[] = [...BUILT_IN_KINDS, 'order'];

/** A service of prices, in the terms of items and in those of the collection. */
export const DEAR = {
  name: 'dear',
  filter: { 'data.amount.value': { $gte: 50 } },
  stored: { 'amount.value': { $gte: 50 } },
} as const;

export function isDesigned(kind: Kind): kind is DesignedKind {
  return (DESIGNED_KINDS as readonly Kind[]).includes(kind);
}

/** The collection of a kind. No kind is registered in the process of the tests. */
export function collectionNamed(kind: Kind): string {
  return isBuiltIn(kind) ? collectionOf(kind) : CREATED_KINDS[kind as CreatedKind].collection;
}

/** Whether an application has a kind. */
export function isKindOf(tenant: Tenant, kind: Kind): boolean {
  return kind !== 'price' || (tenant.organizationid === SHOP.organizationid && tenant.appid === SHOP.appid);
}
