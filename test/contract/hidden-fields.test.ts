import { send, type TestApplication, TestService } from '../support/index.js';
import { AdminConsole } from './admin-console.js';

let service: TestService;
let app: TestApplication;
let admin: string;
let place: string;

beforeAll(async () => {
  service = await TestService.shared();
  app = await service.application();
  admin = app.user('admin');
  place = `${service.url}/admin/v1/applications/${app.organizationid}/${app.appid}`;
});

const ask = (method: string, url: string, body?: object) => send(url, method, { user: admin, body });
const SENTENCE = 'is a password hash, which no filter may use';

describe('A filter that contains `data.passwordhash` is invalid', () => {
  const filter = { $or: [{ id: 'x' }, { 'data.passwordhash': { $regex: '^\\$argon2id\\$a' } }] };
  const configuration = () => ({
    applications: [{ ...app.tenant, services: [{ kind: 'member', name: 'guess', filter }] }],
  });

  it.each<[string, () => [string, string, object]]>([
    ['a preview', () => ['POST', `${place}/preview/member`, { filter }]],
    ['a service', () => ['PUT', `${place}/services/member/guess`, { filter }]],
    ['a plan', () => ['POST', `${service.url}/admin/v1/configuration/plan`, configuration()]],
    [
      'a change of the configuration',
      () => ['POST', `${service.url}/admin/v1/configuration/apply`, configuration()],
    ],
  ])('%s is 400, names the place, and stores nothing', async (_name, request) => {
    const { status, json } = await ask(...request());
    expect(status).toBe(400);
    const { errors } = json as { errors: { pointer: string; detail: string }[] };
    expect(errors[0]!.pointer).toMatch(/\/filter$/);
    expect(errors[0]!.detail).toContain(`"data.passwordhash" at $or[1] ${SENTENCE}`);
    expect(await service.db.collection('services').countDocuments(app.tenant)).toBe(0);
  });

  it('stored by hand, it is invalid as every such filter: its feed is 500, and its match is not known', async () => {
    await app.member({ id: 'm1', data: { email: 'ann@example.com', passwordhash: '$argon2id$abc' } });
    await app.filter('member', 'guess', { 'data.passwordhash': /^\$argon2id\$a/ });
    expect(await app.get('member/guess/updates?to=2100-01-01')).toMatchObject({
      status: 500,
      json: { type: 'urn:tidemark:problem:service-misconfigured' },
    });
    const { text, json } = await ask('GET', `${place}/records/member/m1`);
    const { services } = json as { services: object[] };
    expect(services).toEqual([{ name: 'guess' }]);
    expect(text).not.toContain('argon2id');
  });

  it('a command refuses it with the same sentence', async () => {
    const console = new AdminConsole(service.uri);
    const options = ['--org', app.organizationid, '--app', app.appid, '--kind', 'member'];
    const hash = '{"data": {"$elemMatch": {"passwordhash": {"$gt": "a"}}}}';
    expect(await console.failure(['service', 'preview', ...options, '--filter', hash])).toContain(SENTENCE);
  });
});
