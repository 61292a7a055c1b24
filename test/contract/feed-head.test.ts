import {
  type Answer,
  FEED_PATHS,
  KINDS_AND_WARES,
  MAX_PATHS,
  pathFor,
  type TestApplication,
  TestService,
  WARE_PATHS,
} from '../support/index.js';

/** What differs from answer to answer, whatever the method. */
const OF_THE_MOMENT = ['date', 'x-request-id', 'keep-alive', 'connection'];

let service: TestService;
let app: TestApplication;
beforeAll(async () => {
  service = await TestService.withWares();
  app = await service.application();
  for (const kind of KINDS_AND_WARES) {
    await app.put(kind, { id: 'a', channels: ['web'] });
    await app.put(kind, { id: 'b', channels: ['web'] });
    await app.remove(kind, await app.put(kind, { id: 'gone' }));
  }
});

afterAll(() => service.stop());

function headersOf({ headers }: Answer): [string, string][] {
  return [...headers].filter(([name]) => !OF_THE_MOMENT.includes(name));
}

async function expectSame(path: string, query: Record<string, string>): Promise<Answer> {
  const user = app.user('read');
  const get = await app.send('GET', `api/v1/${path}`, { user, query });
  const head = await app.send('HEAD', `api/v1/${path}`, { user, query });
  expect(head.status).toBe(get.status);
  expect(headersOf(head)).toEqual(headersOf(get));
  expect(head.headers.get('content-length')).toBe(String(Buffer.byteLength(get.text)));
  expect(get.text.length).toBeGreaterThan(0);
  expect(head.text).toBe('');
  return head;
}

describe('HEAD answers as GET does, without a body', () => {
  let to: string;
  beforeAll(async () => {
    to = (await app.max('product')).toISOString();
  });

  it.each([...FEED_PATHS, ...WARE_PATHS])('%s', async (path) => {
    const head = await expectSame(pathFor(path), { to, limit: '1' });
    expect(head.status).toBe(200);
    expect(head.headers.get('tidemark-to')).toBe(to);
  });

  it.each([...MAX_PATHS, 'ware/max'])('%s', async (path) => {
    const head = await expectSame(path, {});
    expect(head.status).toBe(200);
    expect(head.headers.get('etag')).not.toBeNull();
  });

  it('with the Link of a full page', async () => {
    const full = await expectSame('product/default/updates', { to, limit: '2' });
    expect(full.headers.get('link')).toMatch(/^<.+>; rel="next"$/);
    const last = await expectSame('product/default/updates', { to, limit: '3' });
    expect(last.headers.get('link')).toBeNull();
  });

  it.each([
    ['400', 'product/default/updates', { to: 'x' }],
    ['404', 'product/nobody/updates', { to: '2025-01-01' }],
    ['404', 'productbychannel/nowhere/updates', { to: '2025-01-01' }],
  ])('as well where it is %s: %s', async (status, path, query) => {
    const user = app.user('read');
    const head = await app.send('HEAD', `api/v1/${path}`, { user, query });
    expect([String(head.status), head.text]).toEqual([status, '']);
    expect(head.headers.get('content-type')).toBe('application/problem+json; charset=utf-8');
  });
});
