import { collectionOf } from '../../../src/kinds/index.js';
import { Random, someContent } from '../plan/index.js';
import { newRecord } from '../workload/index.js';
import { World } from '../world/index.js';

/** A world of one server, in which so many products stand. */
export function worldOf(products: number): Promise<World> {
  const random = new Random(products);
  return World.start({ nodes: 1, shortOplog: false }, async ({ source }) => {
    const records = Array.from({ length: products }, (_, index) =>
      newRecord(source.tenant, {
        kind: 'product',
        id: `product-${index}`,
        stamp: 'right',
        content: someContent(random),
      }),
    );
    await source.db.collection(collectionOf('product')).insertMany(records);
  });
}
