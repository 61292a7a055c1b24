import {
  type Answer,
  expectProblem,
  PASSWORD,
  send,
  type TestApplication,
  TestService,
} from '../support/index.js';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

let service: TestService;
let app: TestApplication;

beforeAll(async () => {
  service = await TestService.start({ LOGIN_FAILURES: '1000' });
  app = await service.application();
  await app.filter('product', 'forbidden', { $where: 'sleep(1)' });
  await app.filter('product', 'refused', { 'data.name': { $regex: '(unclosed-secret' } });
});
afterAll(() => service.stop());

describe('`type`, `title`, `status`, `detail`, `requestId`, and `errors` on 400', () => {
  it('each wrong parameter has an entry `{"parameter", "detail"}`', async () => {
    const answer = await app.get('product/default/updates', { query: { to: '5', limit: 'abc' } });
    expect(expectProblem(answer, 400, 'invalid-request').errors).toEqual([
      { parameter: 'to', detail: expect.stringContaining('"5"') },
      { parameter: 'limit', detail: expect.stringContaining('"abc"') },
    ]);
  });

  it('each wrong part of a body has an entry `{"pointer", "detail"}`', async () => {
    const answer = await app.send('POST', 'api/v0.1/member', { body: { accountnumber: 5, email: 'a@b.c' } });
    expect(expectProblem(answer, 400, 'invalid-request').errors).toEqual([
      { pointer: '/accountnumber', detail: expect.stringMatching(/./) },
    ]);
  });

  it.each([
    ['kind', 'GET', 'records/goods/x'],
    ['name', 'PUT', 'services/product/max'],
  ])('a wrong `%s` of a path has an entry too', async (parameter, method, path) => {
    const url = `${service.url}/admin/v1/applications/${app.organizationid}/${app.appid}/${path}`;
    const options = { user: app.user('admin'), ...(method === 'PUT' && { body: { filter: {} } }) };
    expect(expectProblem(await send(url, method, options), 400, 'invalid-request').errors).toEqual([
      { parameter, detail: expect.stringMatching(/./) },
    ]);
  });

  it('a request that is wrong as a whole has none', async () => {
    const answer = await send(`${service.url}/acme/%zz/api/v1/product/max`, 'GET', { user: null });
    expect(expectProblem(answer, 400, 'invalid-request').errors).toEqual([]);
  });

  it('`type` is urn:tidemark:problem:<slug> and `errors` is absent elsewhere', async () => {
    expect(
      expectProblem(
        await app.get('product/nothing/updates', { query: { to: '2026-11-20' } }),
        404,
        'unknown-service',
      ),
    ).not.toHaveProperty('errors');
  });
});

it('`traceid` is absent if the service records no trace', async () => {
  const headers = { traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01' };
  const answer = await app.get('product/nothing/updates', { query: { to: '2026-11-20' }, headers });
  expect(expectProblem(answer, 404, 'unknown-service')).not.toHaveProperty('traceid');
});

describe('requestId', () => {
  const sent = async (id: string) =>
    (await app.get('product/max', { headers: { 'x-request-id': id } })).headers.get('x-request-id');

  it('equals the header X-Request-Id, which every answer has', async () => {
    const failed = await app.get('product/max', { user: null });
    expect(expectProblem(failed, 401, 'unauthorized').requestId).toMatch(UUID);
    expect((await app.get('product/max')).headers.get('x-request-id')).toMatch(UUID);
    expect((await send(`${service.url}/health/live`, 'GET', {})).headers.get('x-request-id')).toMatch(UUID);
  });

  it('is what the caller sent, where that is harmless', async () => {
    expect(await sent('trace-42_a.b')).toBe('trace-42_a.b');
  });

  it.each(['', 'a b', '<script>', '"x"', 'x'.repeat(65), 'é'])('is a new one for %j', async (id) => {
    expect(await sent(id)).toMatch(UUID);
  });
});

describe('404 for what is nowhere', () => {
  it.each([
    ['GET', '/nothing'],
    ['GET', '/a/b/api/v1/member'],
    ['GET', '/a/b/api/v2/member/max'],
    ['GET', '/a/b/api/v1/category/max/more'],
  ])('%s %s', async (method, path) => {
    expectProblem(await send(`${service.url}${path}`, method, { user: app.user('admin') }), 404, 'not-found');
  });
});

it('`/` leads to the console, also behind a prefix', async () => {
  const { status, headers } = await send(service.url, 'GET', { user: null });
  expect([status, headers.get('location')]).toEqual([302, 'console']);
});

describe('400 for a path that cannot be decoded', () => {
  it.each([
    '/%E0%A4%A/shop/api/v1/product/max',
    '/acme/%/api/v1/product/max',
    '/acme/shop/api/v1/product/%zz/updates',
  ])('%s', async (path) => {
    const answer = await send(`${service.url}${path}`, 'GET', { user: app.user('read') });
    expect(expectProblem(answer, 400, 'invalid-request').detail).toContain('%25');
  });
});

describe('Never a stack, a query or a secret', () => {
  const STACK = /\bat .*[:(]\d+|\.[jt]s\b|node_modules|Error:/;

  it.each<[string, () => Promise<Answer>]>([
    ['400', () => app.get('product/default/updates', { query: { to: '{"$gt": 1}' } })],
    ['400 of a path', () => send(`${service.url}/%zz/x`, 'GET', { user: app.user('read') })],
    ['400 of a body', () => app.send('POST', 'api/v0.1/member', { body: { accountnumber: 1 } })],
    ['401', () => app.get('product/max', { password: 'tried-secret' })],
    ['403', () => app.send('POST', 'api/v0.1/member', { user: app.user('read'), body: {} })],
    ['404', () => app.get('product/nothing/updates', { query: { to: '2026-11-20' } })],
    [
      '500 of a forbidden filter',
      () => app.get('product/forbidden/updates', { query: { to: '2026-11-20' } }),
    ],
    ['500 of a refused filter', () => app.get('product/refused/updates', { query: { to: '2026-11-20' } })],
  ])('in %s', async (_name, ask) => {
    const { text, status } = await ask();
    expect(status).toBeGreaterThanOrEqual(400);
    expect(text).not.toMatch(STACK);
    for (const hidden of [
      PASSWORD,
      'tried-secret',
      '$argon2',
      '$where',
      'sleep',
      '$regex',
      'unclosed',
      'mongodb',
    ])
      expect(text).not.toContain(hidden);
  });
});

describe('500 of an unforeseen error', () => {
  let broken: TestService;

  beforeAll(async () => {
    broken = await TestService.start();
  });
  afterAll(() => broken.stop());

  it('tells nothing but where to look', async () => {
    const place = await broken.application();
    const { db } = broken;
    await db.collection('applications').rename('hidden');
    const divides = { $addFields: { secretfield: { $divide: [1, { $strLenBytes: '$title' }] } } };
    await db.collection('hidden').updateMany({}, { $set: { title: '' } });
    await db.createCollection('applications', { viewOn: 'hidden', pipeline: [divides] });
    const answer = await place.get('product/max');
    const { detail } = expectProblem(answer, 500, 'internal');
    expect(detail).toBe('The log has the cause under this requestId.');
    expect(answer.text).not.toMatch(/divide|secretfield/);
  });
});
