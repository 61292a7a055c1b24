import { randomBytes } from 'node:crypto';
import { PageTurns } from '../../src/replication/feed/index.js';
import { eventually, expectProblem, type TestApplication, TestService } from '../support/index.js';
import { SlowClient } from './slow-client.js';

const COUNT = 2000;
const MOST = 3;

let service: TestService;
let app: TestApplication;
let to: string;
let turns: PageTurns;
const clients: SlowClient[] = [];

beforeAll(async () => {
  service = await TestService.start({ CREDENTIAL_PAGES: String(MOST) });
  app = await service.application();
  await app.products(COUNT, (n) => ({ id: `p${n}`, data: { noise: noise() } }));
  await service.watcher.caughtUp();
  to = (await app.max('product')).toISOString();
  turns = service.app.get(PageTurns, { strict: false });
}, 120_000);
afterEach(async () => {
  for (const client of clients.splice(0)) client.leave();
  await eventually(() => inWork() === 0);
});
afterAll(() => service.stop());

/** Larger than what the systems of both ends take on the way. */
const noise = () => randomBytes(9000).toString('base64');

const inWork = () => turns.of(app.user('read'));
const path = (feed: string, query: string) => `product/default/${feed}?${query}`;
const page = () => path('updates', `limit=5&to=${to}`);

/** As many clients as a credential may have, that read nothing. */
async function holdAll(query = `limit=10000&to=${to}`, feed = 'updates', accept = 'application/json') {
  for (let count = 0; count < MOST; count += 1)
    clients.push(await SlowClient.open(app, `product/default/${feed}`, { query, accept }));
  expect(inWork()).toBe(MOST);
}

describe('`pages-busy`: a credential has at most `CREDENTIAL_PAGES` pages in work', () => {
  it.each([
    ['updates', 'limit=10000', 'application/json'],
    ['changes', 'deletes=skip&limit=10000', 'application/json'],
    ['changes', 'deletes=skip', 'application/x-ndjson'],
  ])('%s?%s as %s that is not read: the next page is 429 with `Retry-After`', async (feed, query, accept) => {
    await holdAll(`${query}&to=${to}`, feed, accept);
    const answer = await app.get(page());
    expectProblem(answer, 429, 'pages-busy');
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(inWork()).toBe(MOST);
  });

  it('of every feed, and of a small one; `max` and other credentials are answered', async () => {
    await holdAll();
    for (const feed of ['softdeletes', 'changes', 'digest'])
      expectProblem(await app.get(path(feed, `limit=1&to=${to}`)), 429, 'pages-busy');
    expectProblem(await app.get(`product/harddeletes?to=${to}`), 429, 'pages-busy');
    expect((await app.get('product/max')).status).toBe(200);
    expect((await app.get(page(), { user: app.user('write') })).status).toBe(200);
  });

  it('it is served again as soon as a client has read its page, or has left', async () => {
    await holdAll();
    expect((await clients.pop()!.rest()).isWhole).toBe(true);
    await eventually(() => inWork() === MOST - 1);
    expect((await app.get(page())).status).toBe(200);
    clients.push(await SlowClient.open(app, 'product/default/updates', { query: `limit=10000&to=${to}` }));
    expectProblem(await app.get(page()), 429, 'pages-busy');
    clients.pop()!.leave();
    await eventually(() => inWork() === MOST - 1);
    expect((await app.get(page())).status).toBe(200);
  });

  it('what comes to no page holds no place', async () => {
    for (let count = 0; count <= MOST; count += 1) {
      expect((await app.get(path('updates', 'to=5'))).status).toBe(400);
      expect((await app.get(`product/unknown/updates?to=${to}`)).status).toBe(404);
      expect((await app.get(page())).status).toBe(200);
    }
    await eventually(() => inWork() === 0);
  });
});
