import { KINDS_AND_WARES, type TestApplication, TestService, withoutWatcher } from '../support/index.js';

const T = Date.parse('2025-03-04T05:06:07.008Z');
const at = (milliseconds: number) => new Date(T + milliseconds);
const TOLERATED_MS = 900;

let service: TestService;
let app: TestApplication;
beforeAll(async () => {
  service = await TestService.withWares();
});
beforeEach(async () => {
  app = await service.application();
});
afterAll(() => service.stop());

describe.each(KINDS_AND_WARES)('/%s/max', (kind) => {
  it('{"offset": "2026-11-20T10:00:00.000Z"}', async () => {
    await app.put(kind, { lastupdated: at(0) });
    const answer = await app.get(`${kind}/max`);
    expect(answer.status).toBe(200);
    expect(answer.text).toBe('{"offset":"2025-03-04T05:06:07.008Z"}\n');
    expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
  });

  it('1970-01-01T00:00:00.000Z where there is none yet', async () => {
    await app.put(kind === 'member' ? 'product' : 'member');
    expect((await app.get(`${kind}/max`)).text).toBe('{"offset":"1970-01-01T00:00:00.000Z"}\n');
  });

  it('the greatest timestamp of the kind', async () => {
    for (const ms of [5, 9, 1]) await app.put(kind, { lastupdated: at(ms) });
    expect(await app.max(kind)).toEqual(at(9));
    const later = new Date(Date.now() - 1);
    await app.put(kind, { lastupdated: later });
    await service.watcher.caughtUp();
    expect((await app.max(kind)).getTime()).toBeGreaterThanOrEqual(later.getTime());
  });

  it('unfiltered: a record that matches no service counts', async () => {
    await app.filter(kind, 'ones', { 'data.n': 1 });
    await app.put(kind, { lastupdated: at(1), data: { n: 1 } });
    await app.put(kind, { lastupdated: at(2), data: { n: 2 } });
    expect(await app.max(kind)).toEqual(at(2));
  });

  it('over records and hard deletes', async () => {
    await app.put(kind, { id: 'stays', lastupdated: at(0) });
    const gone = await app.put(kind, { id: 'gone', lastupdated: at(1) });
    expect(await app.max(kind)).toEqual(at(1));
    await app.remove(kind, gone);
    const [item] = await app.hardDeletes(kind).drain();
    expect(await app.max(kind)).toEqual(new Date(item?.lastUpdated ?? 0));
    expect((await app.max(kind)) > at(1)).toBe(true);
  });

  it('over hard deletes where no record is left', async () => {
    await app.remove(kind, await app.put(kind, { lastupdated: at(0) }));
    const [item] = await app.hardDeletes(kind).drain();
    expect(await app.max(kind)).toEqual(new Date(item?.lastUpdated ?? 0));
  });

  it('a harvest up to max holds all that max counted, from the max before on all that came since', async () => {
    await app.put(kind, { id: 'a' });
    const first = await app.max(kind);
    expect((await app.feed(kind).page({ to: first })).ids).toEqual(['a']);
    await app.beyondFence(kind);
    await app.put(kind, { id: 'b' });
    await service.watcher.caughtUp();
    const second = await app.max(kind);
    expect((await app.feed(kind).page({ from: first, to: second })).ids).toEqual(['b']);
  });
});

describe("max is never later than the database's clock", () => {
  it('where a foreign record is stamped in the future', async () => {
    await app.product({ lastupdated: at(0) });
    await app.product({ lastupdated: new Date('2999-01-01') });
    expect((await app.max('product')).getTime()).toBeLessThanOrEqual(Date.now());
  });

  it('and nobody has repaired it yet', async () => {
    await app.product({ lastupdated: at(0) });
    expect(await app.max('product')).toEqual(at(0));
    await withoutWatcher(service, async () => {
      await app.product({ lastupdated: new Date('2999-01-01') });
      await app.product({ lastupdated: new Date('9999-12-31T23:59:59.999Z') });
      expect(await app.max('product')).toEqual(at(0));
    });
  });

  it('where it is so little ahead that it is left alone', async () => {
    const ahead = new Date(Date.now() + TOLERATED_MS);
    await app.product({ id: 'ahead', lastupdated: ahead });
    const early = await app.max('product');
    expect(early.getTime()).toBeLessThanOrEqual(Date.now());
    const to = new Date((await app.feed('product').page()).to);
    expect(to.getTime()).toBeLessThanOrEqual(Date.now());
  });
});

describe('max carries an ETag; If-None-Match gives 304', () => {
  let etag: string;
  beforeEach(async () => {
    await app.product({ lastupdated: at(0) });
    etag = (await app.get('product/max')).headers.get('etag') ?? '';
  });

  const ask = (ifNoneMatch: string, method = 'GET') =>
    app.send(method, 'api/v1/product/max', {
      user: app.user('read'),
      headers: { 'if-none-match': ifNoneMatch },
    });

  it('an ETag of RFC 9110', () => {
    expect(etag).toMatch(/^(W\/)?"[\x21\x23-\x7e]+"$/);
  });

  it.each(['%', 'W/%', '"other", %', '%,"other"', '*'])('304 for %s', async (form) => {
    for (const method of ['GET', 'HEAD']) {
      const answer = await ask(form.replace('%', etag), method);
      expect([answer.status, answer.text]).toEqual([304, '']);
      expect(answer.headers.get('etag')).toBe(etag);
    }
  });

  it.each(['"other"', 'x', ''])('200 for %j', async (ifNoneMatch) => {
    const answer = await ask(ifNoneMatch);
    expect([answer.status, answer.json]).toEqual([200, { offset: at(0).toISOString() }]);
  });

  it('200 and another ETag once something changed', async () => {
    await app.product();
    await service.watcher.caughtUp();
    const answer = await ask(etag);
    expect(answer.status).toBe(200);
    expect(new Date((answer.json as { offset: string }).offset).getTime()).toBeGreaterThan(at(0).getTime());
    expect(answer.headers.get('etag')).not.toBe(etag);
  });
});
