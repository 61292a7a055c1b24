import { once } from 'node:events';
import { connect } from 'node:net';
import { mongo } from 'mongoose';
import { eventually, expectProblem, Gate, leadElsewhere, send, TestService } from '../support/index.js';
import { Gauges } from '../../src/health/index.js';
import { Metrics } from '../../src/platform/observability/index.js';
import { startLocked } from '../support/own-mongod.js';
import { commandsDuring, nameOf } from './profiler.js';

let service: TestService;

beforeAll(async () => {
  service = await TestService.start();
});
afterAll(() => service.stop());

const get = (path: string, options: Parameters<typeof send>[2] = {}) =>
  send(`${service.url}${path}`, 'GET', options);

/** What `/health/ready` says about the watcher, and its status. */
async function replicationOf({ url }: TestService): Promise<[number, Record<string, unknown>]> {
  const { status, json } = await send(`${url}/health/ready`, 'GET', {});
  return [status, (json as { details: { replication: Record<string, unknown> } }).details.replication];
}

describe('`GET /health/live`, `GET /health/ready` (200/503)', () => {
  it('live', async () => {
    const answer = await get('/health/live');
    expect([answer.status, answer.json]).toEqual([200, { status: 'ok' }]);
  });

  it('ready: the database answers and the first pass has ended', async () => {
    const answer = await get('/health/ready');
    expect(answer.status).toBe(200);
    expect(answer.json).toMatchObject({
      status: 'ok',
      details: { database: { status: 'up' }, replication: { status: 'up' } },
    });
  });

  it('ready tells who leads, how far behind, and how long the watcher may stay away', async () => {
    const [, replication] = await replicationOf(service);
    expect(replication).toEqual({
      status: 'up',
      leader: (await service.db.collection('tidemark.leases').findOne())?.['holder'],
      lagSeconds: expect.any(Number),
      oplogWindowSeconds: expect.any(Number),
    });
    expect(replication['lagSeconds']).toBeGreaterThanOrEqual(0);
    expect(replication['oplogWindowSeconds']).toBeGreaterThan(0);
  });
});

/** What is in the database. */
const OPLOG_SIZE = ['tidemark_oplog_used_ratio', 'tidemark_oplog_predicted_window_seconds'];
const GAUGES = [
  ...['tidemark_watcher_lag_seconds', 'tidemark_oplog_window_seconds', 'tidemark_email_duplicates'],
  ...['tidemark_applications_aside', 'tidemark_aside_lag_seconds'],
  ...OPLOG_SIZE,
];

describe('`GET /metrics` (Prometheus)', () => {
  it('text format, with what the watcher does', async () => {
    const answer = await get('/metrics');
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/);
    for (const name of ['tidemark_ignored_records', 'tidemark_watcher_leads', 'tidemark_tombstones_total'])
      expect(answer.text).toContain(`# TYPE ${name} `);
    expect(await service.metric('tidemark_watcher_leads')).toBe(1);
  });

  it('what must never happen is 0 from the beginning, so that Prometheus sees the first increase', async () => {
    const what = ['unknown record', 'living entry without record'];
    const found = what.map((one) => service.metric(`tidemark_audit_found_total{what="${one}"}`));
    expect(await Promise.all(found)).toEqual([0, 0]);
    expect(await service.metric('tidemark_passes_total{reason="repair"}')).toBe(0);
    expect(await service.metric('tidemark_watcher_abandoned_total')).toBe(0);
  });

  it('requests are counted by route, never by what a client put into the path', async () => {
    const app = await service.application({ organizationid: 'visible-org' });
    await app.get('product/max');
    const counted =
      /tidemark_http_request_seconds_count\{method="GET",route="[^"]*product\/max",status="200"\} \d/;
    await eventually(async () => counted.test((await get('/metrics')).text));
    expect((await get('/metrics')).text).not.toContain('visible-org');
  });

  it('what strangers send adds no series: neither methods of their own, nor paths, nor routes without a login', async () => {
    const app = await service.application();
    const series = async (): Promise<string[]> => {
      const text = await service.app.get(Metrics, { strict: false }).registry.metrics();
      return text.match(/^tidemark_http_request_seconds_count\{.*\}/gm) ?? [];
    };
    const paths = ['/metrics', '/nothing', `/${app.organizationid}/${app.appid}/api/v1/product/max`];
    const send34 = (method: string) =>
      Promise.all(paths.map((path) => send(`${service.url}${path}`, method, {})));
    for (const method of ['GET', 'DELETE', 'PROPFIND']) await send34(method);
    const before = await series();
    for (const method of ['SEARCH', 'MKCOL', 'LOCK', 'REPORT', 'PURGE', 'M-SEARCH']) await send34(method);
    for (const path of ['/a', '/b/c', '/elsewhere/other/api/v1/member/max'])
      await send(`${service.url}${path}`, 'GET', {});
    expect(await series()).toEqual(before);
    expect(before.filter((one) => /PROPFIND|SEARCH/.test(one))).toEqual([]);
    const refused = before.filter((one) => /status="40[145]"/.test(one));
    expect(refused.filter((one) => !one.includes('method="none",route="none"'))).toEqual([]);
  });

  it('nor do logins that fail, not even where they are too many', async () => {
    const app = await service.application();
    const series = async (): Promise<string[]> => {
      const text = await service.app.get(Metrics, { strict: false }).registry.metrics();
      return text.match(/^tidemark_http_request_seconds_count\{.*\}/gm) ?? [];
    };
    const before = await series();
    const statuses = new Set<number>();
    for (const feed of ['max', 'default/updates', 'default/digest', 'harddeletes'])
      for (let count = 0; count < 10; count += 1)
        statuses.add((await app.get(`product/${feed}`, { password: 'wrong' })).status);
    expect([...statuses]).toEqual([401, 429]);
    await eventually(async () => (await series()).some((one) => one.includes('status="429"')));
    const added = (await series()).filter((one) => !before.includes(one));
    expect(added.filter((one) => !one.includes('method="none",route="none"'))).toEqual([]);
  });

  it('scrapes at one time share one text', async () => {
    const refresh = jest.spyOn(service.app.get(Gauges, { strict: false }), 'refresh');
    try {
      await Promise.all(Array.from({ length: 20 }, () => get('/metrics')));
      expect(refresh.mock.calls.length).toBeLessThanOrEqual(2);
    } finally {
      refresh.mockRestore();
    }
  });

  it('every instance tells the same about what is in the database', async () => {
    const app = await service.application();
    const email = { data: { email: 'ada@example.org' } };
    await app.member({ id: 'first', ...email });
    await service.watcher.caughtUp();
    await app.member({ id: 'second', ...email });
    const other = await service.another();
    try {
      for (const instance of [service, other]) {
        await eventually(async () => (await instance.metric('tidemark_email_duplicates')) === 1);
        expect(await instance.presentMetric('tidemark_watcher_lag_seconds')).toBeGreaterThanOrEqual(0);
        expect(await instance.presentMetric('tidemark_oplog_window_seconds')).toBeGreaterThan(0);
        expect(await instance.metric('tidemark_pass_progress')).toBeNaN();
      }
      expect(await other.metric('tidemark_watcher_leads')).toBe(0);
    } finally {
      await other.leave();
    }
  });

  it('without the database what is in it is absent, and the rest stays', async () => {
    const gate = await Gate.to(service.uri);
    await gate.open();
    const behind = await service.another({ MONGODB_URI: gate.uri });
    try {
      expect(await behind.presentMetric('tidemark_watcher_lag_seconds')).toBeGreaterThanOrEqual(0);
      await gate.shut();
      for (const name of GAUGES) expect([name, await behind.metric(name)]).toEqual([name, NaN]);
      expect(await behind.metric('tidemark_watcher_leads')).toBe(0);
      expect(await behind.metric('tidemark_tombstones_total')).toBe(0);
    } finally {
      await behind.leave();
      await gate.shut();
    }
  });
});

describe('the oplog', () => {
  const readWrite = { role: 'readWrite', db: 'tidemark' };
  let locked: Awaited<ReturnType<typeof startLocked>>;

  beforeAll(async () => {
    const clusterMonitor = { role: 'clusterMonitor', db: 'admin' };
    locked = await startLocked([
      { name: 'monitor', roles: [readWrite, clusterMonitor] },
      { name: 'plain', roles: [readWrite] },
    ]);
  });
  afterAll(() => locked.stop());

  /** Of an instance which works as this user. */
  async function withInstance<T>(name: string, read: (instance: TestService) => Promise<T>): Promise<T> {
    const instance = await service.another({ MONGODB_URI: locked.as(name) });
    try {
      return await read(instance);
    } finally {
      await instance.leave();
    }
  }

  it('that is young is told to be hardly used, and what it will hold', async () => {
    const names = ['tidemark_oplog_window_seconds', ...OPLOG_SIZE];
    const [window = NaN, used = NaN, predicted = NaN] = await withInstance('monitor', (instance) =>
      Promise.all(names.map((name) => instance.presentMetric(name))),
    );
    expect(used).toBeGreaterThan(0);
    expect(used).toBeLessThan(0.5);
    expect(predicted).toBeGreaterThan(2 * window);
  });

  it('is not told of where the user may not ask; the service works all the same', async () => {
    const names = GAUGES.filter((name) => name.includes('oplog'));
    const figures = await withInstance('plain', async (instance) => {
      await instance.presentMetric('tidemark_watcher_lag_seconds');
      return Promise.all(names.map((name) => instance.metric(name)));
    });
    expect(figures).toEqual([NaN, NaN, NaN]);
  });
});

describe('none needs credentials', () => {
  it.each(['/health/live', '/health/ready', '/metrics', '/docs', '/openapi.json'])('%s', async (path) => {
    expect((await get(path)).status).toBe(200);
    expect((await get(path, { user: 'nobody', password: 'wrong' })).status).toBe(200);
  });
});

describe('`METRICS`/`DOCS` switch theirs off', () => {
  let quiet: TestService;

  beforeAll(async () => {
    quiet = await service.another({ METRICS: 'off', DOCS: 'off' });
  });
  afterAll(() => quiet.leave());

  it.each(['/metrics', '/docs', '/openapi.json'])('%s is 404', async (path) => {
    expectProblem(await send(`${quiet.url}${path}`, 'GET', {}), 404, 'not-found');
  });

  it('and nothing else', async () => {
    expect((await send(`${quiet.url}/health/live`, 'GET', {})).status).toBe(200);
    const app = await quiet.application();
    expect((await app.get('product/max')).status).toBe(200);
  });
});

describe('while nobody leads', () => {
  let unwatched: TestService;
  let giveUp: () => Promise<void>;

  beforeAll(async () => {
    const first = await TestService.start();
    await first.leave();
    giveUp = await leadElsewhere(first.db);
    unwatched = await first.another();
  });
  afterAll(async () => {
    await giveUp();
    await unwatched.stop();
  });

  const put = ({ db }: TestService, state: mongo.Document) =>
    db.collection<{ _id: string }>('tidemark.leases').updateOne({ _id: 'watcher' }, { $set: state });

  it('a watcher that lags keeps nobody out', async () => {
    const longAgo = new mongo.Timestamp({ t: Math.floor(Date.now() / 1000) - 3600, i: 1 });
    await put(unwatched, { watched: longAgo, since: longAgo });
    const [status, { lagSeconds }] = await replicationOf(unwatched);
    expect(status).toBe(200);
    expect(lagSeconds).toBeGreaterThanOrEqual(3600);
    expect(await unwatched.metric('tidemark_watcher_lag_seconds')).toBeGreaterThanOrEqual(3600);
  });

  it('a pass under way is 503 `preparing`, with its progress', async () => {
    const pass = { reason: 'rename of products', isRepair: true, started: new Date(), done: 30, total: 120 };
    expect(await unwatched.metric('tidemark_pass_progress')).toBeNaN();
    await put(unwatched, { pass });
    expect(await replicationOf(unwatched)).toEqual([
      503,
      expect.objectContaining({
        ...{ status: 'down', state: 'preparing' },
        pass: { reason: 'rename of products', done: 30, total: 120 },
      }),
    ]);
    expect(await unwatched.metric('tidemark_pass_progress')).toBe(0.25);
  });
});

it('probes and scrapes that come together share their looks at the database: they need no credentials', async () => {
  const { host, hostname, port } = new URL(service.url);
  const asked = (path: string, more = '') => `GET ${path} HTTP/1.1\r\nHost: ${host}\r\n${more}\r\n`;
  const all = asked('/health/ready').repeat(20) + asked('/metrics').repeat(20);
  const looks = async () => {
    const seen = await commandsDuring(service.db, async () => {
      const socket = connect(Number(port), hostname);
      socket.resume().write(all + asked('/health/live', 'Connection: close\r\n'));
      await once(socket, 'end');
    });
    return seen.filter((command) => nameOf(command) === 'count tidemark.quarantine').length;
  };
  // A scrape of the second before would answer all of them.
  let counts = 0;
  await eventually(async () => (counts = await looks()) > 0);
  expect(counts).toBeLessThan(10);
});
