import { type Answer, send, type TestApplication, TestService } from '../support/index.js';
import { AdminConsole } from './admin-console.js';

/** MongoDB stores UTF-8, which has no half of a surrogate pair: the driver writes U+FFFD. */
const HALF = String.raw`\ud800`;

let service: TestService;
let app: TestApplication;
let place: string;

beforeAll(async () => {
  service = await TestService.shared();
  app = await service.application();
  place = `applications/${app.organizationid}/${app.appid}`;
});

const admin = (method: string, path: string, raw: string): Promise<Answer> =>
  send(`${service.url}/admin/v1/${path}`, method, {
    ...{ user: app.user('admin'), raw, headers: { 'content-type': 'application/json' } },
  });
const stored = () => service.db.collection('services').countDocuments(app.tenant);

describe('A text of a filter that would be stored as another one is refused with its place', () => {
  it.each([
    ['as a value', `{"data.color": "${HALF}"}`, 'data.color'],
    ['in a list', `{"data.color": {"$in": ["red", "blue${HALF}"]}}`, 'data.color.$in[1]'],
    ['as a name', `{"data.${HALF}": 1}`, 'data.'],
    ['in a pattern', `{"data.color": {"$regex": "^${HALF}"}}`, 'data.color.$regex'],
    [
      'in a regular expression',
      `{"data.color": {"$regularExpression": {"pattern": "^${HALF}"}}}`,
      'data.color',
    ],
  ])('%s', async (_where, filter, named) => {
    for (const [method, path, body] of [
      ['PUT', `${place}/services/product/erp`, `{"filter": ${filter}}`],
      ['POST', `${place}/preview/product`, `{"filter": ${filter}}`],
      ['POST', 'configuration/apply', configuration(filter)],
    ] as const) {
      const answer = await admin(method, path, body);
      expect([path, answer.status]).toEqual([path, 400]);
      expect(answer.text).toContain(named);
    }
    expect(await stored()).toBe(0);
  });

  it('by a command too', async () => {
    const words = ['service', 'set', '--org', app.organizationid, '--app', app.appid, '--kind', 'product'];
    const filter = `{"data.color": "${HALF}"}`;
    const said = await new AdminConsole(service.uri).failure([...words, '--name', 'erp', '--filter', filter]);
    expect(said).toContain('data.color');
    expect(await stored()).toBe(0);
  });

  it('a whole pair is stored as it came', async () => {
    const body = String.raw`{"filter": {"data.color": "\ud83d\ude00"}}`;
    expect((await admin('PUT', `${place}/services/product/smile`, body)).status).toBe(200);
    const plan = await admin('POST', 'configuration/plan', configuration(`{"data.color": "😀"}`, 'smile'));
    expect(plan.json).toMatchObject({ changes: [] });
    await service.db.collection('services').deleteMany(app.tenant);
  });
});

function configuration(filter: string, name = 'erp'): string {
  const one = `{"kind": "product", "name": "${name}", "filter": ${filter}}`;
  const tenant = `"organizationid": "${app.organizationid}", "appid": "${app.appid}"`;
  return `{"applications": [{${tenant}, "services": [${one}]}]}`;
}
