import { request } from 'node:http';
import {
  expectProblem,
  PASSWORD,
  send,
  type SendOptions,
  type TestApplication,
  TestService,
} from '../support/index.js';

let service: TestService;
let app: TestApplication;

beforeAll(async () => {
  service = await TestService.start({ BODY_LIMIT: '1024' });
  app = await service.application();
  await app.filter('product', 'broken', { $where: 'true' });
});
afterAll(() => service.stop());

const TOO_LARGE = JSON.stringify({ contactname: 'x'.repeat(2000) });
const JSON_TYPE = { 'content-type': 'application/json' };

const create = (options: SendOptions) => app.send('POST', 'api/v0.1/member', options);
const createIn = (path: string, options: SendOptions) =>
  send(`${service.url}/${path}/api/v0.1/member`, 'POST', options);

describe('Order: 401, 404 application, 403, 415, 413, 400, 404 service, channel or member, 412, 409', () => {
  it('401 before 404 application', async () => {
    expectProblem(await createIn('no/where', { user: null, raw: TOO_LARGE }), 401, 'unauthorized');
    expectProblem(await createIn('no/where', { user: app.user('read'), password: 'x' }), 401, 'unauthorized');
  });

  it('404 application before 403', async () => {
    expectProblem(await createIn('no/where', { user: app.user('read') }), 404, 'unknown-application');
  });

  it('403 before 415', async () => {
    const answer = await create({
      user: app.user('read'),
      raw: TOO_LARGE,
      headers: { 'content-type': 'x/y' },
    });
    expectProblem(answer, 403, 'level-missing');
  });

  it('415 before 413', async () => {
    expectProblem(
      await create({ raw: TOO_LARGE, headers: { 'content-type': 'text/plain' } }),
      415,
      'not-json',
    );
  });

  it('413 before 400', async () => {
    expectProblem(await create({ raw: `${TOO_LARGE}}`, headers: JSON_TYPE }), 413, 'body-too-large');
  });

  it('400 before 404 member', async () => {
    const answer = await app.send('PATCH', 'api/v0.1/member/nobody', { body: { elevel: 'high' } });
    expectProblem(answer, 400, 'invalid-request');
  });

  it('400 before 404 service and channel, and before a misconfigured service', async () => {
    const paths = ['product/nothing/updates', 'productbychannel/nothing/updates', 'product/broken/updates'];
    for (const path of paths) expectProblem(await app.get(path), 400, 'invalid-request');
  });

  it('404 member before 412', async () => {
    const answer = await app.send('PATCH', 'api/v0.1/member/nobody', {
      body: { elevel: 1 },
      headers: { 'if-match': '"other"' },
    });
    expectProblem(answer, 404, 'unknown-member');
  });

  it('412 before 409', async () => {
    const born = async (email: string) => {
      const answer = await create({ body: { accountnumber: '1', email } });
      return (answer.json as { id: string }).id;
    };
    const [, second] = [await born('first@example.com'), await born('second@example.com')];
    const patch = (headers: Record<string, string>) =>
      app.send('PATCH', `api/v0.1/member/${second}`, { body: { email: 'first@example.com' }, headers });
    expectProblem(await patch({ 'if-match': '"other"' }), 412, 'precondition-failed');
    expectProblem(await patch({}), 409, 'email-conflict');
  });
});

describe('No byte of a body is parsed before 403 is decided', () => {
  /** The status of a request whose body begins as JSON and never ends. */
  function statusOfEndless(login: string): Promise<number | undefined> {
    const url = `${service.url}/${app.organizationid}/${app.appid}/api/v0.1/member`;
    const headers = { ...JSON_TYPE, 'transfer-encoding': 'chunked' };
    return new Promise((resolve, reject) => {
      const sending = request(url, { method: 'POST', headers, auth: login }, (answer) => {
        resolve(answer.statusCode);
        sending.destroy();
      });
      sending.on('error', reject).write('{"email": "');
    });
  }

  it.each<[string, (user: string) => string, number]>([
    ['a wrong password', (user) => `${user}:wrong`, 401],
    ['level read', (user) => `${user}:${PASSWORD}`, 403],
  ])('a body that never ends, with %s', async (_name, login, status) => {
    expect(await statusOfEndless(login(app.user('read')))).toBe(status);
  });
});

describe('403 level `write` missing', () => {
  it.each(['POST api/v0.1/member', 'PATCH api/v0.1/member/x', 'PATCH api/v0.1/member/x/address'])(
    '%s',
    async (route) => {
      const [method = '', path = ''] = route.split(' ');
      const answer = await app.send(method, path, { user: app.user('read'), body: {} });
      const { detail } = expectProblem(answer, 403, 'level-missing');
      expect(detail).toContain('"write"');
    },
  );

  it('any level may read a member', async () => {
    const answer = await app.send('GET', 'api/v0.1/member/x', { user: app.user('read') });
    expectProblem(answer, 404, 'unknown-member');
  });
});
