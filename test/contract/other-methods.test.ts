import { request } from 'node:http';
import {
  eventually,
  expectProblem,
  FEED_PATHS,
  PASSWORD,
  pathFor,
  send,
  type TestApplication,
  TestService,
} from '../support/index.js';

let service: TestService;
let app: TestApplication;

beforeAll(async () => {
  service = await TestService.start();
  app = await service.application();
});
afterAll(() => service.stop());

const at = (path: string, method: string, user: string | null = app.user('read')) =>
  send(`${service.url}${path}`, method, { user });
const inApp = (path: string) => `/${app.organizationid}/${app.appid}/api/${path}`;

describe('405 `method-not-allowed`, with `Allow`: the path exists and the method does not', () => {
  it.each([
    ...FEED_PATHS.map((path) => ['POST', `v1/${pathFor(path)}`, 'GET, HEAD'] as const),
    ['DELETE', 'v1/member/max', 'GET, HEAD'],
    ['PUT', 'v1/product/default/changes', 'GET, HEAD'],
    ['GET', 'v0.1/member', 'POST'],
    ['HEAD', 'v0.1/member', 'POST'],
    ['DELETE', 'v0.1/member/x', 'PATCH, GET, HEAD'],
    ['OPTIONS', 'v0.1/member/x/address', 'PATCH'],
  ] as const)('%s %s takes %s', async (method, path, allowed) => {
    const answer = await at(inApp(path), method);
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, allowed]);
    if (method !== 'HEAD') expect(expectProblem(answer, 405, 'method-not-allowed').detail).toContain(allowed);
  });

  it.each([
    ['POST', '/health/live'],
    ['DELETE', '/health/ready'],
    ['PUT', '/metrics'],
    ['POST', '/openapi.json'],
    ['PATCH', '/docs'],
    ['POST', '/console'],
  ])('%s %s, without credentials', async (method, path) => {
    const answer = await at(path, method, null);
    expectProblem(answer, 405, 'method-not-allowed');
    expect(answer.headers.get('allow')).toBe('GET, HEAD');
  });

  it('of administration, for a credential of level `admin`', async () => {
    const answer = await at('/admin/v1/applications/a/b', 'PUT', app.user('admin'));
    expectProblem(answer, 405, 'method-not-allowed');
    expect(answer.headers.get('allow')).toBe('GET, HEAD, PATCH, DELETE');
  });
});

describe('Order: 401, 404 application, 403, 405', () => {
  it('401 before it', async () => {
    for (const path of [inApp('v1/product/max'), '/admin/v1/status', '/admin/v1/session'])
      expectProblem(await at(path, 'PUT', null), 401, 'unauthorized');
  });

  it('404 application before it, with the same body', async () => {
    const other = await service.application();
    const path = `/${other.organizationid}/${other.appid}/api/v1/product/max`;
    for (const one of [path, '/no/where/api/v1/product/max'])
      expectProblem(await at(one, 'POST'), 404, 'unknown-application');
  });

  it('403 before it', async () => {
    expectProblem(await at('/admin/v1/status', 'POST', app.user('write')), 403, 'level-missing');
  });

  it('it comes before 415 and 413: the body of a request is not looked at', async () => {
    const raw = 'x'.repeat(300 * 1024);
    const answer = await app.send('PUT', 'api/v0.1/member', {
      raw,
      headers: { 'content-type': 'text/plain' },
    });
    expectProblem(answer, 405, 'method-not-allowed');
  });
});

it('an unknown path stays 404, whatever the method', async () => {
  for (const method of ['GET', 'POST', 'OPTIONS'])
    expectProblem(await at(inApp('v1/category/max/more'), method, null), 404, 'not-found');
});

it('a method that nobody has heard of is 405 too', async () => {
  const url = new URL(inApp('v1/product/max'), service.url);
  const auth = `${app.user('read')}:${PASSWORD}`;
  const status = await new Promise((resolve, reject) => {
    request(url, { method: 'PROPFIND', auth }, (answer) => resolve(answer.resume().statusCode))
      .on('error', reject)
      .end();
  });
  expect(status).toBe(405);
});

it('its requests are counted by route, as others are', async () => {
  const route = '/:org/:app/api/v1/product/max';
  await at(inApp('v1/product/max'), 'POST');
  const name = `tidemark_http_request_seconds_count{method="POST",route="${route}",status="405"}`;
  await eventually(async () => (await service.metric(name)) > 0);
});
