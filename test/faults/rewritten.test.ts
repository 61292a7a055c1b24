import { collectionOf } from '../../src/kinds/index.js';
import { FollowedCopy, PatientClient } from './consumers/index.js';
import { differences, itemsOf } from './judge/index.js';
import { harvest, Repeatedly, worldOf } from './load/index.js';
import { Random } from './plan/index.js';
import type { World } from './world/index.js';

const RECORDS = 2000;
const REWRITTEN_EVERY_MS = 5;
const PAGE = 100;
const NEVER = new AbortController().signal;

let world: World;

beforeAll(async () => {
  world = await worldOf(RECORDS);
});

afterAll(() => world.end());

function client(): PatientClient {
  return new PatientClient(world, new Random(RECORDS), NEVER);
}

function rewrite(ids: string[]): Promise<unknown> {
  const rewritten = { $inc: { 'data.n': 1 }, $currentDate: { lastupdated: true as const } };
  return world.source.db.collection(collectionOf('product')).updateMany({ id: { $in: ids } }, rewritten);
}

describe('Records that are rewritten all the while', () => {
  test('one that is rewritten every 5 ms is delivered in at least 90 % of the harvests', async () => {
    const harvests = 20;
    const busiest = `product-${RECORDS / 2}`;
    const writer = new Repeatedly(REWRITTEN_EVERY_MS, () => rewrite([busiest]));
    const poller = new Repeatedly(0, () => client().max('product'));
    let delivered = 0;
    for (let fresh = 0; fresh < harvests; fresh++) {
      const { items } = await harvest(client(), { limit: PAGE });
      if (items.some(({ id }) => id === busiest)) delivered += 1;
    }
    expect(await poller.stop()).toBeGreaterThan(harvests);
    expect(await writer.stop()).toBeGreaterThan(harvests);
    expect(delivered).toBeGreaterThanOrEqual(0.9 * harvests);
  }, 180_000);

  test('pages of a harvest repeat none and skip none, and the next harvests bring what it left out', async () => {
    const random = new Random(1);
    const some = () => Array.from({ length: 50 }, () => `product-${random.below(RECORDS)}`);
    const writer = new Repeatedly(REWRITTEN_EVERY_MS, () => rewrite(some()));
    const copy = new FollowedCopy();
    let from: string | undefined;
    for (let round = 0; round < 5; round++) {
      const { items, to } = await harvest(client(), { limit: PAGE, ...(from !== undefined && { from }) });
      const delivered = new Set(items.map(({ id }) => id));
      expect(delivered.size).toBe(items.length);
      items.forEach((item) => copy.update(item));
      expect(await leftOutBelow(to, copy)).toEqual([]);
      from = to;
    }
    expect(await writer.stop()).toBeGreaterThan(0);
    const last = await harvest(client(), { limit: PAGE, ...(from !== undefined && { from }) });
    last.items.forEach((item) => copy.update(item));
    expect(differences(await itemsOf(world.source, 'product'), copy)).toEqual([]);
  });
});

/** Records that stand at or below `to` in the source, and are not held as they stand there. */
async function leftOutBelow(to: string, copy: FollowedCopy): Promise<string[]> {
  const standing = [...(await itemsOf(world.source, 'product')).values()];
  return standing
    .filter(({ lastupdated = '' }) => lastupdated <= to)
    .filter(({ id, lastupdated }) => copy.get(id)?.lastupdated !== lastupdated)
    .map(({ id }) => id);
}
