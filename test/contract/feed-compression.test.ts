import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import zlib from 'node:zlib';
import { Metrics } from '../../src/platform/observability/index.js';
import {
  eventually,
  PASSWORD,
  type TestApplication,
  type TestFeed,
  TestService,
  WARE,
} from '../support/index.js';

const MEGABYTE = 1024 * 1024;
const FAR = '9999-01-01T00:00:00.000Z';

let service: TestService;
let app: TestApplication;
let feed: TestFeed;
beforeAll(async () => {
  service = await TestService.withWares();
});
beforeEach(async () => {
  app = await service.application();
  feed = app.feed('product');
});
afterAll(() => service.stop());

const ask = (encoding: string, method = 'GET') =>
  app.send(method, `api/v1/${feed.path}`, {
    query: { to: FAR },
    headers: { 'accept-encoding': encoding },
  });

describe('Accept-Encoding', () => {
  beforeEach(() => app.products(30, (n) => ({ data: { text: 'a page is worth it '.repeat(3), n } })));

  it.each([
    ['br', 'br'],
    ['gzip', 'gzip'],
    ['gzip, deflate, br', 'br'],
    ['gzip;q=1, br;q=0.5', 'gzip'],
    ['br;q=0, gzip', 'gzip'],
    ['identity', null],
    ['gzip;q=0', null],
    ['deflate', null],
    ['', null],
  ])('%s: a page comes as %s, and says the same', async (accepted, used) => {
    const plain = await ask('identity');
    const answer = await ask(accepted);
    expect(answer.headers.get('content-encoding')).toBe(used);
    expect(answer.headers.get('vary')).toMatch(/accept-encoding/i);
    expect(answer.text).toBe(plain.text);
    expect((answer.json as { result: object[] }).result).toHaveLength(30);
  });

  it('a page of a mapped kind says the same compressed', async () => {
    await app.many(WARE, 30, (n) => ({ data: { text: 'a page is worth it '.repeat(3), n } }));
    feed = app.feed(WARE);
    const [plain, answer] = [await ask('identity'), await ask('br')];
    expect(answer.headers.get('content-encoding')).toBe('br');
    expect(answer.text).toBe(plain.text);
    expect((answer.json as { result: object[] }).result).toHaveLength(30);
  });

  it('zstd where Node has it', async () => {
    const { text, headers } = await ask('zstd', 'HEAD');
    expect(text).toBe('');
    expect(headers.get('content-encoding')).toBe('createZstdCompress' in zlib ? 'zstd' : null);
  });

  it('what is not compressed tells its length, for HEAD too', async () => {
    const plain = await ask('identity');
    const length = String(Buffer.byteLength(plain.text));
    expect(plain.headers.get('content-length')).toBe(length);
    expect((await ask('identity', 'HEAD')).headers.get('content-length')).toBe(length);
  });
});

it('1 KB and less is not compressed', async () => {
  await app.products(2);
  const { text, headers } = await ask('br');
  expect(Buffer.byteLength(text)).toBeLessThanOrEqual(1024);
  expect(headers.get('content-encoding')).toBeNull();
});

describe('a page of large records', () => {
  const COUNT = 24;
  const all = () => service.metric('tidemark_feed_steps_total{plan="all"}');
  beforeEach(() => app.products(COUNT, (n) => ({ data: { n, text: 'x'.repeat(MEGABYTE) } })));

  it('is filled by further reads, and full: it links to the next, which begins behind it', async () => {
    for (const encoding of ['identity', 'br']) {
      const limit = COUNT - 1;
      const { headers, json } = await app.get(feed.path, {
        query: { to: FAR, limit: String(limit) },
        headers: { 'accept-encoding': encoding },
      });
      const { result, nextoffsetid } = json as { result: { data: { n: number } }[]; nextoffsetid: string };
      expect(result.map(({ data }) => data.n)).toEqual(Array.from({ length: limit }, (_, n) => n));
      expect(headers.get('link')).toContain(`lastoffsetid=${nextoffsetid}>`);
      expect(headers.get('content-encoding')).toBe(encoding === 'br' ? 'br' : null);
    }
  });

  it('that is not full does not', async () => {
    const { answer, items } = await feed.page({ limit: COUNT + 1 });
    expect(items).toHaveLength(COUNT);
    expect(answer.headers.get('link')).toBeNull();
  });

  it('a client that goes away ends the reading', async () => {
    await feed.page();
    const before = await all();
    await feed.page();
    const whole = (await all()) - before;
    const answer = await begun(`${feed.path}?to=${FAR}`);
    const closed = await requests();
    answer.destroy();
    await eventually(async () => (await requests()) > closed);
    const begins = await all();
    expect(begins - before - whole).toBeLessThan(whole);
    for (let count = 0; count < 5; count += 1) await feed.page({ limit: 1 });
    expect(await all()).toBe(begins + 5);
  });

  /** How many updates of products have been answered, or left alone by their clients. */
  const requests = async () => {
    const text = await service.app.get(Metrics, { strict: false }).registry.metrics();
    return [...text.matchAll(/^tidemark_http_request_seconds_count\{.*product\/:service\/updates.* (\d+)$/gm)]
      .map(([, count]) => Number(count))
      .reduce((sum, count) => sum + count, 0);
  };

  /** The answer to a request, as soon as some of its body is there. */
  async function begun(path: string): Promise<IncomingMessage> {
    const auth = `${app.user('read')}:${PASSWORD}`;
    const url = `${service.url}/${app.organizationid}/${app.appid}/api/v1/${path}`;
    const [answer] = (await once(get(url, { auth }), 'response')) as [IncomingMessage];
    await once(answer, 'readable');
    return answer;
  }
});
