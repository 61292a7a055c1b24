import {
  type Answer,
  eventually,
  expectProblem,
  Gate,
  send,
  type TestApplication,
  TestService,
} from '../support/index.js';

let first: TestService;
let app: TestApplication;
let gate: Gate;
/** An instance that comes to the database through the gate only, and the application as it shows it. */
let service: TestService;
let seen: TestApplication;

beforeAll(async () => {
  first = await TestService.start();
  app = await first.application();
  await app.product({ id: 'kept' });
  await first.leave();
  gate = await Gate.to(first.uri);
  service = await first.listening({ MONGODB_URI: gate.uri });
  seen = app.seenBy(service);
});
afterAll(async () => {
  await service.leave();
  await gate.shut();
  await first.stop();
});

const get = (path: string) => send(`${service.url}${path}`, 'GET', {});

function assertAway(answers: Answer[]): void {
  for (const answer of answers) {
    expectProblem(answer, 503, 'database-away');
    expect(answer.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
    expect(answer.text).not.toMatch(/mongodb|127\.0\.0\.1|ECONN/);
  }
}

const everything = () =>
  Promise.all([
    seen.get('product/max'),
    seen.feed('member').ask(),
    seen.softDeletes('product').ask(),
    seen.hardDeletes('product').ask(),
    seen.channel('web').ask(),
    seen.send('POST', 'api/v0.1/member', { body: { accountnumber: '1', email: 'a@example.com' } }),
    seen.send('GET', 'api/v0.1/member/x'),
  ]);

describe('503 with `Retry-After` while the database is away', () => {
  it('The port listens at once: live 200, ready 503', async () => {
    expect((await get('/health/live')).status).toBe(200);
    const ready = await get('/health/ready');
    expect([ready.status, ready.json]).toEqual([
      503,
      expect.objectContaining({
        details: expect.objectContaining({ database: { status: 'down', state: 'preparing' } }),
      }),
    ]);
    expect((await get('/metrics')).status).toBe(200);
    expect((await get('/docs')).status).toBe(200);
  });

  it('feeds, `max` and writes', async () => assertAway(await everything()));

  it('no credentials are 401 all the same', async () => {
    expectProblem(await seen.get('product/max', { user: null }), 401, 'unauthorized');
  });

  it('the service works once the database comes', async () => {
    await gate.open();
    await service.ready();
    expect((await seen.feed('product').page()).ids).toEqual(['kept']);
    await eventually(async () => (await service.metric('tidemark_watcher_leads')) === 1);
  });

  it('when it goes, ready is 503 and requests are again', async () => {
    await gate.shut();
    const [ready, answers] = await Promise.all([get('/health/ready'), everything()]);
    expect([ready.status, ready.json]).toEqual([
      503,
      expect.objectContaining({
        details: expect.objectContaining({ database: { status: 'down', state: 'away' } }),
      }),
    ]);
    assertAway(answers);
    expect((await get('/health/live')).status).toBe(200);
  });

  it('what is deleted meanwhile is found when it is back', async () => {
    await first.db.collection('products').deleteOne({ id: 'kept' });
    await gate.open();
    await service.ready();
    await service.watcher.caughtUp();
    expect((await seen.hardDeletes('product').page()).ids).toEqual(['kept']);
    expect((await seen.feed('product').page()).ids).toEqual([]);
  });
});
