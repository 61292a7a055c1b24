import { type Answer, send, type TestApplication, TestService } from '../support/index.js';

/** Beyond 2^53 a JSON number is read as another one. */
const LONG = { $numberLong: '9007199254740993' };
const FILTER = { 'data.n': { $in: [LONG, 5] } };

let service: TestService;
let app: TestApplication;
let root: string;

beforeAll(async () => {
  service = await TestService.shared();
  app = await service.application();
  root = await app.credential({ level: 'admin', scopes: [{ organizationid: '*', appid: '*' }] });
});

const admin = (path: string, method = 'GET', more: object = {}): Promise<Answer> =>
  send(`${service.url}/admin/v1/${path}`, method, { user: root, ...more });
const of = (rest: string) => `applications/${app.organizationid}/${app.appid}/${rest}`;

describe('A whole number of 64 bits keeps all its digits', () => {
  it('in a filter that is read back, and in the configuration', async () => {
    const headers = { 'If-None-Match': '*' };
    const saved = await admin(of('services/product/long'), 'PUT', { body: { filter: FILTER }, headers });
    expect(saved.json).toMatchObject({ filter: FILTER });
    expect((await admin(of('services/product/long'))).json).toMatchObject({ filter: FILTER });
    const { json } = await admin('configuration');
    expect(JSON.stringify(json)).toContain(JSON.stringify(FILTER));
  });

  it('or is refused where it has lost them already', async () => {
    const refused = await admin(of('services/product/rounded'), 'PUT', {
      body: { filter: { 'data.n': { $in: [1, Number(LONG.$numberLong)] } } },
    });
    expect(refused).toMatchObject({ status: 400, json: { errors: [{ pointer: '/filter' }] } });
    expect(refused.text).toContain('{\\"$numberLong\\": \\"9007199254740993\\"}');
  });

  it('and a large number that is none of 64 bits stays one, to and fro', async () => {
    const filter = { 'data.n': { $in: [{ $numberDouble: '100000000000000000' }, 1e300, 0.5] } };
    const path = of('services/product/double');
    expect((await admin(path, 'PUT', { body: { filter } })).json).toMatchObject({ filter });
    const { organizationid, appid } = app;
    const user = await app.credential({ level: 'admin', scopes: [{ organizationid, appid }] });
    const { json } = await admin('configuration', 'GET', { user });
    const plan = await admin('configuration/plan', 'POST', { user, body: json as object });
    expect(plan.json).toMatchObject({ changes: [] });
  });

  it('in a record that is looked up', async () => {
    const n = BigInt(LONG.$numberLong);
    await app.products(1, () => ({ id: 'long', data: { n, small: 5n, list: [{ n }] } }));
    const { json } = await admin(of('records/product/long'));
    expect(json).toMatchObject({ record: { data: { n: LONG, small: 5, list: [{ n: LONG }] } } });
  });
});
