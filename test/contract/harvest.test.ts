import { EventEmitter, on } from 'node:events';
import {
  type CopyStore,
  follow,
  type Harvested,
  Harvester,
  type HarvestSource,
} from '../../client/src/harvest/index.js';
import { type CopyPlace, ndjsonCopies, sqliteCopies } from '../support/copies/index.js';
import { eventually, type Stored, type TestApplication, TestService } from '../support/index.js';
import { bike, BIKES, bikesIn, bikesOf, stampsIn, tent } from './harvest-client.js';

let service: TestService;
let app: TestApplication;
beforeAll(async () => {
  service = await TestService.shared();
});
beforeEach(async () => {
  app = await service.application();
  await app.filter('product', BIKES, { 'data.category': BIKES });
});

describe.each([
  ['SQLite', sqliteCopies],
  ['NDJSON', ndjsonCopies],
])('a harvest of a service into %s', (_name, places) => {
  let place: CopyPlace;
  let store: CopyStore;
  beforeEach(async () => {
    place = await places().fresh();
    store = await place.open();
  });
  afterEach(async () => {
    await store.close();
    await place.remove();
  });

  async function filled(): Promise<Stored[]> {
    const bikes = await app.products(20, (n) => bike(`b${n}`));
    await app.products(5, (n) => tent(`t${n}`));
    await service.watcher.caughtUp();
    return bikes;
  }

  it('follows what changes, leaves and goes', async () => {
    const [first, second, third] = await filled();
    const { source } = bikesOf(app);
    const harvester = new Harvester(source, store, 7);
    expect(await harvester.harvest()).toMatchObject({ pages: 3, upserts: 20, deletes: 0 });
    expect(await stampsIn(place)).toEqual(await bikesIn(app));
    await app.change('product', first!, { $set: { 'data.n': 1 } });
    await app.change('product', second!, { $set: { 'data.category': 'tents' } });
    await app.remove('product', third!);
    const records = await place.records();
    expect(records.get('b0')).toMatchObject({ type: 'product', createdBy: 'erp', channels: ['web'] });
    expect(await harvester.harvest()).toMatchObject({ pages: 1, upserts: 1, deletes: 2 });
    expect(await stampsIn(place)).toEqual(await bikesIn(app));
    expect((await place.records()).get('b0')?.data).toEqual({ category: BIKES, n: 1 });
    expect(await harvester.harvest()).toMatchObject({ pages: 1, upserts: 0, deletes: 0 });
  });

  it('410 `history-expired`: starts over, and what is gone without a sign is removed', async () => {
    const [first] = await filled();
    const { source } = bikesOf(app);
    const harvester = new Harvester(source, store, 7);
    await harvester.harvest();
    await app.remove('product', first!);
    const { tenant } = app;
    const ledger = service.db.collection<{ lastupdated: Date }>('tidemark.ledger');
    const tombstone = await ledger.findOneAndDelete({ ...tenant, alive: false });
    const horizons = service.db.collection<{ _id: object; lastupdated: Date }>('tidemark.horizons');
    const { lastupdated } = tombstone!;
    await horizons.insertOne({ _id: { ...tenant, kind: 'product' }, lastupdated });
    expect(await harvester.harvest()).toMatchObject({ starts: 1, upserts: 19 });
    expect(await stampsIn(place)).toEqual(await bikesIn(app));
  });
});

describe('following', () => {
  const never = 60_000;
  /** Events that a test sends, in place of those of the service. */
  const sent = new EventEmitter();
  const cases: [string, Partial<HarvestSource>, { quietMs: number; pollMs: number }][] = [
    [
      'where events come',
      { events: (signal) => on(sent, 'max', { signal }) },
      { quietMs: never, pollMs: never },
    ],
    ['where there are none', { events: () => ended() }, { quietMs: never, pollMs: 50 }],
    [
      'where events are lost',
      { events: (signal) => on(sent, 'none', { signal }) },
      { quietMs: 50, pollMs: never },
    ],
  ];

  it.each(cases)('harvests what changes until it is ended: %s', async (_name, events, times) => {
    const place = await sqliteCopies().fresh();
    const store = await place.open();
    const source = { ...bikesOf(app).source, ...events };
    const end = new AbortController();
    const seen: Harvested[] = [];
    const onHarvest = (harvested: Harvested) => void seen.push(harvested);
    const following = follow(source, new Harvester(source, store), {
      signal: end.signal,
      ...times,
      onHarvest,
    });
    await eventually(() => seen.length > 0);
    await app.product(bike('later'));
    await eventually(async () => {
      sent.emit('max');
      return (await place.records()).has('later');
    });
    end.abort();
    await following;
    await store.close();
    await place.remove();
  });
});

async function* ended(): AsyncIterable<unknown> {
  yield* [];
  await Promise.reject(new Error('no events here'));
}
