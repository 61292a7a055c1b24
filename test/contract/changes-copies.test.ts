import type { mongo } from 'mongoose';
import { type TestApplication, TestService } from '../support/index.js';
import { type ChangeItem, changesOf } from './changes-feed.js';

const SEEDS = [1, 2, 3];
const OPERATIONS = 150;
const IDS = 25;
const FEED = 'product/bikes';

let service: TestService;
beforeAll(async () => {
  service = await TestService.shared();
});

/** Numbers from 0 on, below a limit; the same for the same seed. */
function dice(seed: number): (limit: number) => number {
  let state = seed;
  return (limit) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * limit);
  };
}

/** What other programs do: with a stamp of the database, with none, and back under an `id` that was gone. */
async function write(app: TestApplication, roll: (limit: number) => number, n: number): Promise<void> {
  const products = service.db.collection('products');
  const which = { ...app.tenant, id: `p${roll(IDS)}` };
  const data = { category: roll(2) === 0 ? 'bikes' : 'tents', n };
  if (roll(4) === 0) await products.deleteOne(which);
  else if (roll(2) === 0) await products.updateOne(which, { $set: { ...which, data } }, { upsert: true });
  else
    await products.updateOne(
      which,
      { $set: { data }, $currentDate: { lastupdated: true }, $setOnInsert: { channels: [] } },
      { upsert: true },
    );
}

/** A copy that knows nothing of windows: what it is told last of an `id` holds. */
class Copy {
  readonly held = new Map<string, unknown>();

  apply(changes: ChangeItem[]): void {
    for (const change of changes) {
      if (change.op === 'upsert') this.held.set(change.id, (change as { data?: { n?: unknown } }).data?.n);
      else this.held.delete(change.id);
    }
  }
}

/** Stores the cursor of each page behind it, and now and then breaks off between both. */
class CursorConsumer extends Copy {
  private cursor: string | undefined;

  constructor(
    private readonly app: TestApplication,
    private readonly roll: (limit: number) => number,
  ) {
    super();
  }

  async harvest(isBroken = this.roll(3) === 0): Promise<void> {
    for (;;) {
      const limit = 1 + this.roll(9);
      const page = await changesOf(this.app, FEED, { limit, ...(this.cursor && { cursor: this.cursor }) });
      this.apply(page.result);
      if (isBroken && this.roll(3) === 0) return;
      this.cursor = page.cursor;
      if (page.next === undefined) return;
    }
  }
}

/** A generic tool: it repeats its first parameters on each page, and keeps the greatest stamp of a complete harvest. */
class StampConsumer extends Copy {
  private from: string | undefined;

  constructor(
    private readonly app: TestApplication,
    private readonly roll: (limit: number) => number,
  ) {
    super();
  }

  async harvest(isBroken = this.roll(3) === 0): Promise<void> {
    const asked = { limit: 1 + this.roll(9), ...(this.from && { from: this.from }) };
    let greatest = this.from;
    let page = await changesOf(this.app, FEED, asked);
    for (;;) {
      this.apply(page.result);
      for (const { lastupdated } of page.result)
        if (greatest === undefined || lastupdated > greatest) greatest = lastupdated;
      if (page.nextoffsetid === '') break;
      if (isBroken && this.roll(3) === 0) return;
      page = await changesOf(this.app, FEED, { ...asked, lastoffsetid: page.nextoffsetid });
    }
    this.from = greatest;
  }
}

async function source(app: TestApplication): Promise<Map<string, unknown>> {
  const which = { ...app.tenant, 'data.category': 'bikes' };
  const records = await service.db
    .collection<{ id: string; data: { n: number } } & mongo.Document>('products')
    .find(which)
    .toArray();
  return new Map(records.map(({ id, data }) => [id, data.n]));
}

const sorted = (map: Map<string, unknown>) => [...map].sort(([one], [other]) => (one < other ? -1 : 1));

it.each(SEEDS)(
  'copies are equal after random writes, whichever state a consumer keeps: seed %i',
  async (seed) => {
    const app = await service.application();
    await app.filter('product', 'bikes', { 'data.category': 'bikes' });
    const roll = dice(seed);
    const consumers = [new CursorConsumer(app, dice(seed + 100)), new StampConsumer(app, dice(seed + 200))];
    let isWriting = true;
    const reading = consumers.map(async (consumer) => {
      while (isWriting) await consumer.harvest();
    });
    for (let n = 1; n <= OPERATIONS; n += 1) await write(app, roll, n);
    isWriting = false;
    await Promise.all(reading);
    await service.watcher.caughtUp();
    const expected = sorted(await source(app));
    for (const consumer of consumers) {
      await consumer.harvest(false);
      await consumer.harvest(false);
      expect(sorted(consumer.held)).toEqual(expected);
    }
  },
);
