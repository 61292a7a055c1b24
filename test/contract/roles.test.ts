import { expectProblem, freshDatabase, send, type TestApplication, TestService } from '../support/index.js';

const DETAIL =
  'This instance only watches (ROLE=watch). Send the request to an instance with ROLE=serve or ROLE=all.';

let serving: TestService;
let watching: TestService;
let app: TestApplication;
beforeAll(async () => {
  watching = await TestService.startOn(await freshDatabase(), { ROLE: 'watch' });
  serving = await watching.another({ ROLE: 'serve', MARK_WAIT: '3000' });
  app = await serving.application();
});
afterAll(async () => {
  await watching?.leave();
  await serving?.stop();
});

const term = async () => (await serving.db.collection('tidemark.leases').findOne({}))?.['term'] as unknown;
const changes = () => app.get('product/default/changes');

async function idsOfChanges(): Promise<string[]> {
  const { json } = await changes();
  return (json as { result: { id: string }[] }).result.map(({ id }) => id);
}

it('an instance that serves delivers what another one has worked through', async () => {
  const { id } = (await app.product({ id: 'first' })) as unknown as { id: string };
  await serving.watcher.caughtUp();
  expect(await idsOfChanges()).toEqual([id]);
});

it.each(['/health/live', '/health/ready', '/metrics'])(
  'an instance that watches answers %s',
  async (path) => {
    expect((await send(`${watching.url}${path}`, 'GET', {})).status).toBe(200);
  },
);

it.each([
  ['GET', '/acme/shop/api/v1/product/max'],
  ['POST', '/acme/shop/api/v0.1/member'],
  ['GET', '/admin/v1/status'],
  ['GET', '/console/'],
  ['GET', '/docs'],
  ['GET', '/openapi.json'],
  ['GET', '/'],
  ['GET', '/METRICS'],
])('an instance that watches answers 503 to %s %s, without looking at credentials', async (method, path) => {
  const answer = await send(`${watching.url}${path}`, method, { user: null });
  expectProblem(answer, 503, 'not-serving');
  expect(answer.headers.get('retry-after')).toBe('2');
  expect(answer.json).toMatchObject({ detail: DETAIL });
});

it('an instance that serves never leads: without another one feeds wait, and the next leader has the next term', async () => {
  expect(await term()).toBe(1);
  await watching.leave();
  await app.product({ id: 'second' });
  expectProblem(await changes(), 503, 'not-watched');
  watching = await serving.another();
  await serving.watcher.caughtUp();
  expect(await idsOfChanges()).toEqual(expect.arrayContaining(['first', 'second']));
  expect(await term()).toBe(2);
});
