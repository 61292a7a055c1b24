import { collectionOf } from '../../src/kinds/index.js';
import { eventually, type Item } from '../support/index.js';
import { FOLLOWED, PatientClient } from './consumers/index.js';
import { harvest, Repeatedly, worldOf } from './load/index.js';
import { Random } from './plan/index.js';
import type { World } from './world/index.js';

const { FAULTS_RECORDS = '10000' } = process.env;
const RECORDS = Number(FAULTS_RECORDS);
/** Bulks that were under way when a mark was raised are stamped again. */
const MOST_RESTAMPS = RECORDS + 6000;
const WITHIN_MS = 180_000;
const POLLED_EVERY_MS = 20;
const PAGE = 10_000;
const RESTAMPS = 'tidemark_restamps_total';
const NEVER = new AbortController().signal;

let world: World;

beforeAll(async () => {
  world = await worldOf(RECORDS);
});

afterAll(() => world.end());

function client(): PatientClient {
  return new PatientClient(world, new Random(RECORDS), NEVER);
}

test(
  'an updateMany of many records that leaves lastupdated alone is re-stamped hardly more than once a record',
  async () => {
    const products = world.source.db.collection(collectionOf('product'));
    const { to: before } = await harvest(client(), { limit: PAGE });
    const restampsBefore = await world.presentMetric(RESTAMPS);

    const asking = client();
    let max = before;
    const poller = new Repeatedly(POLLED_EVERY_MS, async () => (max = await asking.max('product')));
    const reader = new Repeatedly(POLLED_EVERY_MS, () => firstPage(asking, max));
    const begun = Date.now();
    await products.updateMany({}, { $set: { 'data.colour': 'grey' } });
    const late = { lastupdated: { $lte: new Date(before) } };
    await eventually(async () => (await products.countDocuments(late)) === 0, WITHIN_MS);
    await world.caughtUp(WITHIN_MS - (Date.now() - begun));
    const seconds = (Date.now() - begun) / 1000;
    await Promise.all([poller.stop(), reader.stop()]);

    const restamps = (await world.presentMetric(RESTAMPS)) - restampsBefore;
    process.stdout.write(
      `${RECORDS} records worked through in ${seconds.toFixed(1)} s, ${restamps} re-stamps\n`,
    );
    // The stamps of a bulk that MongoDB interrupts are not counted.
    expect(restamps).toBeGreaterThan(0);
    expect(restamps).toBeLessThanOrEqual(MOST_RESTAMPS);
    expect(asking.repeated).toEqual([]);
    expect((await deliveredSince(before)).size).toBe(RECORDS);
  },
  3 * WITHIN_MS,
);

async function firstPage(asking: PatientClient, to: string): Promise<void> {
  await asking.page(FOLLOWED[0]?.updates ?? '', { from: undefined, to, lastoffsetid: '', limit: 100 });
}

/** The `id`s that the next two harvests bring as they stand now. */
async function deliveredSince(before: string): Promise<Set<string>> {
  const first = await harvest(client(), { from: before, limit: PAGE });
  const second = await harvest(client(), { from: first.to, limit: PAGE });
  const grey = ({ data }: Item) => data?.['colour'] === 'grey';
  return new Set([...first.items, ...second.items].filter(grey).map(({ id }) => id));
}
