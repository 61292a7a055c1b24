import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { type Answer, send, type TestApplication, TestService } from '../support/index.js';
import { MemberClient } from './member-client.js';

let service: TestService;
let app: TestApplication;
let root: string;
beforeAll(async () => {
  service = await TestService.shared();
  app = await service.application();
  await app.products(3);
  root = await app.credential({ level: 'admin', scopes: [{ organizationid: '*', appid: '*' }] });
});

/** One line, which ends with its break, and the length that is told of it. */
function expectOneLine({ text: body, headers, json }: Answer): void {
  expect(json).toEqual(expect.any(Object));
  expect(body).toMatch(/^[^\n]*[}\]]\n$/);
  const length = headers.get('content-length');
  if (length !== null && !headers.has('content-encoding'))
    expect(length).toBe(String(Buffer.byteLength(body)));
}

describe('every JSON answer ends with a line break', () => {
  it.each([
    ['product/max', {}],
    ['product/default/updates', { to: '9999-01-01', limit: '2' }],
    ['product/default/softdeletes', { to: '9999-01-01' }],
    ['product/harddeletes', { to: '2000-01-01' }],
    ['product/nothing/updates', { to: '9999-01-01' }],
    ['product/default/updates', { to: 'never' }],
  ])('%s %j', async (path, query) => {
    expectOneLine(await app.get(path, { query }));
    expectOneLine(await app.get(path, { query, headers: { 'accept-encoding': 'identity' } }));
  });

  it('of the member endpoints', async () => {
    const members = new MemberClient(app);
    const created = await members.create({ accountnumber: '1', email: 'line@example.org' });
    const { id } = created.json as { id: string };
    for (const answer of [
      created,
      await members.read(id),
      await members.patch(id, { contactname: 'Ada' }),
      await members.patchAddress(id, { city: 'Turku' }),
      await members.patch(id, { nothing: 1 }),
    ])
      expectOneLine(answer);
  });

  it.each(['/health/live', '/health/ready', '/openapi.json', '/nowhere', '/admin/v1/status'])(
    '%s',
    async (path) => {
      expectOneLine(await send(`${service.url}${path}`, 'GET', { user: null }));
    },
  );

  it.each(['status', 'applications', 'credentials', 'consumers'])('/admin/v1/%s', async (path) => {
    expectOneLine(await send(`${service.url}/admin/v1/${path}`, 'GET', { user: root }));
  });

  it('of what is no request', async () => {
    const { hostname, port } = new URL(service.url);
    const socket = connect(Number(port), hostname);
    socket.write('no HTTP\r\n\r\n');
    const [head = '', body = ''] = (await text(socket)).split('\r\n\r\n');
    expect(body).toMatch(/^\{[^\n]*\}\n$/);
    expect(head).toContain(`Content-Length: ${Buffer.byteLength(body)}`);
  });
});

it('what has no body has no line break either', async () => {
  const max = await app.get('product/max');
  const known = await app.get('product/max', { headers: { 'if-none-match': max.headers.get('etag')! } });
  expect([known.status, known.text]).toEqual([304, '']);
  const path = `applications/${app.organizationid}/${app.appid}/services/product/gone`;
  const at = `${service.url}/admin/v1/${path}`;
  await send(at, 'PUT', { user: root, body: { filter: {} }, headers: { 'if-none-match': '*' } });
  const removed = await send(at, 'DELETE', { user: root });
  expect([removed.status, removed.text]).toEqual([204, '']);
});
