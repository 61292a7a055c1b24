import { PASSWORD, send, type TestApplication, TestService } from '../support/index.js';

const ORIGIN = 'https://app.example.com';

let service: TestService;
let app: TestApplication;
beforeAll(async () => {
  service = await TestService.start({ CORS_ORIGINS: `${ORIGIN}, http://localhost:5173` });
  app = await service.application();
});
afterAll(() => service.stop());

const path = () => `/${app.organizationid}/${app.appid}/api/v1/product/max`;
const login = () => `Basic ${btoa(`${app.user('read')}:${PASSWORD}`)}`;
const preflight = {
  'access-control-request-method': 'PATCH',
  'access-control-request-headers': 'authorization,if-match',
};
const allowed = (headers: Headers) => headers.get('access-control-allow-origin');

it('a page of an allowed origin may ask with a login, and read what answers tell in headers', async () => {
  const asked = await send(`${service.url}${path()}`, 'OPTIONS', {
    headers: { origin: ORIGIN, ...preflight },
  });
  expect([asked.status, allowed(asked.headers)]).toEqual([204, ORIGIN]);
  expect(asked.headers.get('access-control-allow-headers')).toContain('Authorization');
  expect(asked.headers.get('access-control-allow-methods')).toContain('PATCH');
  const answer = await send(`${service.url}${path()}`, 'GET', {
    headers: { origin: ORIGIN, authorization: login() },
  });
  expect([answer.status, allowed(answer.headers)]).toEqual([200, ORIGIN]);
  expect(answer.headers.get('access-control-expose-headers')).toContain('Tidemark-To');
  expect(answer.headers.get('access-control-allow-credentials')).toBeNull();
  const refused = await send(`${service.url}${path()}`, 'GET', { headers: { origin: ORIGIN } });
  expect([refused.status, allowed(refused.headers)]).toEqual([401, ORIGIN]);
});

it('no other origin may, and none where the setting names none', async () => {
  const other = { origin: 'https://app.example.com.evil.example' };
  const asked = await send(`${service.url}${path()}`, 'OPTIONS', { headers: { ...other, ...preflight } });
  expect(allowed(asked.headers)).toBeNull();
  const plain = await service.another();
  try {
    const headers = { origin: ORIGIN, ...preflight };
    const answer = await send(`${plain.url}${path()}`, 'OPTIONS', { headers });
    expect([answer.status, allowed(answer.headers)]).toEqual([401, null]);
  } finally {
    await plain.leave();
  }
});
