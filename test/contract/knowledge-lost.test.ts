import { type TestApplication, TestService } from '../support/index.js';
import { KnownAndRead } from './known-and-read.js';
import { commandsDuring, nameOf } from './profiler.js';

let service: TestService;
let app: TestApplication;
let ways: KnownAndRead;
beforeAll(async () => {
  service = await TestService.start();
});
beforeEach(async () => {
  app = await service.application();
  for (const n of [1, 2]) await app.product({ id: `p${n}`, data: { n } });
  await app.filter('product', 'few', { 'data.n': 1 });
  await service.knows(app);
  ways = new KnownAndRead(service);
});
afterAll(() => service.stop());

const collection = (name: string) => service.db.collection(name);

/** What may happen to a collection of that name. */
const LOSSES: [string, (name: string) => Promise<unknown>][] = [
  ['is dropped', (name) => collection(name).drop()],
  ['gets another name', (name) => collection(name).rename(`${name}-before-${Date.now()}`)],
  [
    'is replaced by another one',
    async (name) => {
      await service.db.createCollection('aside');
      await collection('aside').rename(name, { dropTarget: true });
    },
  ],
  [
    'is replaced by one of another database',
    async (name) => {
      const aside = service.client.db(`${service.db.databaseName}-aside`);
      await aside.createCollection(name);
      const to = `${service.db.databaseName}.${name}`;
      await service.client
        .db('admin')
        .command({ renameCollection: `${aside.databaseName}.${name}`, to, dropTarget: true });
    },
  ],
];
const AWAY = LOSSES.slice(0, 2);

describe.each([
  ['applications', 404],
  ['credentials', 401],
])('where the collection %s is another one, what was in it opens nothing', (name, refused) => {
  it.each(LOSSES)('it %s', async (_what, lose) => {
    const stored = await collection(name).find().toArray();
    const requests = () => [app.get('product/max')];
    expect((await ways.served(requests)).known).toMatchObject([{ status: 200 }]);
    await lose(name);
    await service.heard();
    const { known, read } = await ways.ask(requests);
    expect(known).toMatchObject([{ status: refused }]);
    expect(known).toEqual(read);
    await collection(name).insertMany(stored);
    expect((await ways.served(requests)).known).toMatchObject([{ status: 200 }]);
  });
});

describe.each(['tidemark.filterversions', 'tidemark.moments', 'tidemark.heads', 'tidemark.leases'])(
  'where %s is lost, nothing of it counts, and what comes behind it arrives',
  (name) => {
    it.each(AWAY)('it %s', async (_what, lose) => {
      const before = await app.max('product');
      expect((await app.feed('product', 'few').page()).ids).toEqual(['p1']);
      await lose(name);
      await collection('services').updateOne(app.tenant, { $set: { filter: { 'data.n': 2 } } });
      await app.product({ id: 'p3', data: { n: 2 }, lastupdated: new Date() });
      await service.watcher.caughtUp();
      const to = await app.max('product');
      expect(to.getTime()).toBeGreaterThan(before.getTime());
      const page = () => app.feed('product', 'few').ask({ to: to.toISOString() });
      const { known, read } = await ways.served(() => [page()]);
      expect(known).toMatchObject([{ status: 200, result: [{ id: 'p2' }, { id: 'p3' }] }]);
      expect(known).toEqual(read);
    });
  },
);

/** Last: of several services in one process the newest one looks at all credentials, since Passport is one for all. */
describe('100,000 credentials and 10,000 applications', () => {
  const CREDENTIALS = 100_000;
  const APPLICATIONS = 10_000;
  const REQUESTS = 3;

  /** What an instance asks of the two collections from its start until it has answered a few requests. */
  async function asked(): Promise<string[]> {
    const seen = await commandsDuring(service.db, async () => {
      const other = await service.another();
      for (let turn = 0; turn < REQUESTS; turn += 1)
        expect((await app.seenBy(other).get('product/max')).status).toBe(200);
      await other.leave();
    });
    return seen.map(nameOf).filter((name) => / (applications|credentials)$/.test(name));
  }

  it('a start asks for none of them, and a request for its own only', async () => {
    const few = await asked();
    const { passwordhash } = (await collection('credentials').findOne({ username: app.user('read') }))!;
    const credential = (_: unknown, n: number) => ({ username: `many-${n}`, passwordhash, level: 'read' });
    await collection('credentials').insertMany(Array.from({ length: CREDENTIALS }, credential));
    const application = (_: unknown, n: number) => ({ organizationid: 'many', appid: `app-${n}` });
    await collection('applications').insertMany(Array.from({ length: APPLICATIONS }, application));
    const many = await asked();
    expect(new Set(many)).toEqual(new Set(few));
    expect(many.filter((name) => name.startsWith('find ')).length).toBeLessThanOrEqual(2 * REQUESTS);
  });
});
