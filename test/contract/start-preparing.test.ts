import { eventually, expectProblem, leadElsewhere, send, TestService } from '../support/index.js';

let service: TestService;
let giveUp: () => Promise<void>;

/** A database in which somebody else has begun the first pass and does not come to its end. */
beforeAll(async () => {
  const first = await TestService.start();
  await first.leave();
  giveUp = await leadElsewhere(first.db);
  const pace = { seconds: 10, done: 500, added: 0 };
  const pass = { reason: 'first start', isRepair: false, started: new Date(), done: 4000, total: 5000, pace };
  await leases(first).updateOne({ _id: 'watcher' }, { $unset: { since: '' }, $set: { pass } });
  service = await first.listening();
});
afterAll(async () => {
  await giveUp();
  await service.stop();
});

const leases = ({ db }: TestService) => db.collection<{ _id: string }>('tidemark.leases');
const get = (path: string) => send(`${service.url}${path}`, 'GET', {});

describe('The port listens at once; indexes and the first pass over existing data come behind it', () => {
  it('`/health/live` 200, `/health/ready` 503', async () => {
    expect((await get('/health/live')).status).toBe(200);
    await eventually(async () => JSON.stringify((await get('/health/ready')).json).includes('"up"'));
    const ready = await get('/health/ready');
    expect(ready.status).toBe(503);
    expect(ready.json).toMatchObject({
      details: { database: { status: 'up' }, replication: { status: 'down', state: 'preparing' } },
    });
  });

  it('`max`, feeds and writes answer 503 `preparing`, which names the application, with an estimate as `Retry-After`', async () => {
    const app = await service.application();
    const answers = [
      await app.get('product/max'),
      await app.get('member/max'),
      await app.feed('member').ask(),
      await app.softDeletes('product').ask(),
      await app.hardDeletes('product').ask(),
      await app.send('POST', 'api/v0.1/member', { body: { accountnumber: '1', email: 'a@example.com' } }),
      await app.send('PATCH', 'api/v0.1/member/x', { body: { elevel: 1 } }),
    ];
    for (const answer of answers) {
      const { detail } = expectProblem(answer, 503, 'preparing');
      expect(detail).toContain(
        `(80 % done, about 20 s left), and application "${app.organizationid}/${app.appid}"`,
      );
      expect(answer.headers.get('retry-after')).toBe('10');
    }
  });

  it('who may come in is decided all the same', async () => {
    const app = await service.application();
    expectProblem(await app.get('product/max', { user: null }), 401, 'unauthorized');
    expectProblem(await app.get('product/max', { user: 'nobody' }), 401, 'unauthorized');
    const user = await app.credential({ scopes: [] });
    expectProblem(await app.get('product/max', { user }), 404, 'unknown-application');
    const write = { user: app.user('read'), body: {} };
    expectProblem(await app.send('POST', 'api/v0.1/member', write), 403, 'level-missing');
  });

  it('and all of it is served as soon as the pass has ended', async () => {
    const app = await service.application();
    await giveUp();
    await service.ready();
    expect((await app.get('product/max')).status).toBe(200);
    const body = { accountnumber: '1', email: 'a@example.com' };
    expect((await app.send('POST', 'api/v0.1/member', { body })).status).toBe(201);
  });
});
