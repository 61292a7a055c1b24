import { send, type TestApplication, TestService } from '../support/index.js';

let service: TestService;
let app: TestApplication;
let namesake: TestApplication;
beforeAll(async () => {
  service = await TestService.shared();
  app = await service.application();
  namesake = await service.application({ organizationid: 'docs' });
});

it.each([
  ['an answer', () => app.get('product/max')],
  ['an answer to an organization with the name of a page', () => namesake.get('product/max')],
  ['a refusal', () => send(`${service.url}/nowhere`, 'GET', {})],
])('no browser takes %s for a page, and no cache shares it', async (_name, ask) => {
  const { headers } = await ask();
  expect(Object.fromEntries(headers)).toMatchObject({
    'cache-control': 'private, no-cache',
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
    'x-content-type-options': 'nosniff',
  });
  expect(headers.has('x-powered-by')).toBe(false);
});

it('the page under /docs may run its own scripts and no others, and demands no HTTPS', async () => {
  const { headers } = await send(`${service.url}/docs`, 'GET', {});
  expect(headers.get('content-security-policy')).toContain("script-src 'self'");
  expect(headers.get('content-security-policy')).not.toContain('upgrade-insecure-requests');
  expect(headers.has('strict-transport-security')).toBe(false);
  expect(headers.get('cache-control')).toBe('private, no-cache');
});

it('no view of the console takes the place of an application whose paths have its form', async () => {
  const tenant = { organizationid: 'console', appid: 'applications' };
  const hidden = await service.application(tenant);
  expect((await hidden.get('product/max')).headers.get('content-type')).toContain('application/json');
  const url = `${service.url}/console/applications/api`;
  expect((await send(`${url}/v1/product/max`, 'GET', { user: null })).status).toBe(401);
  expect((await send(`${url}/v0.1/member/x`, 'GET', { user: null })).status).toBe(401);
  expect((await send(`${url}/shop/product/erp`, 'GET', { user: null })).status).toBe(200);
});
