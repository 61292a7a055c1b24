import { type Follows, FOLLOWED, pagesOf, type PatientClient } from '../consumers/index.js';
import type { Item } from '../../support/index.js';

const [ALL_PRODUCTS] = FOLLOWED as readonly [Follows];

export interface Harvest {
  items: Item[];
  to: string;
}

/** All updates of products after `from`, in pages of the size. */
export async function harvest(
  client: PatientClient,
  { from, limit }: { from?: string; limit: number },
): Promise<Harvest> {
  const to = await client.max(ALL_PRODUCTS.kind);
  const items: Item[] = [];
  for await (const page of pagesOf(client, ALL_PRODUCTS.updates, { from, to }, () => limit)) {
    items.push(...page.items);
  }
  return { items, to };
}
