import { expectProblem, send, TestService } from '../support/index.js';

let service: TestService;

beforeAll(async () => {
  service = await TestService.start();
});
afterAll(() => service.stop());

const get = (path: string, options: Parameters<typeof send>[2] = {}) =>
  send(`${service.url}${path}`, 'GET', options);

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
});

describe('`GET /metrics` (Prometheus)', () => {
  it('text format, with what the watcher does', async () => {
    const answer = await get('/metrics');
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/);
    for (const name of ['tidemark_ignored_records', 'tidemark_watcher_leads', 'tidemark_tombstones_total'])
      expect(answer.text).toContain(`# TYPE ${name} `);
    expect(await service.metric('tidemark_watcher_leads')).toBe(1);
  });

  it('requests are counted by route, never by what a client put into the path', async () => {
    const app = await service.application({ organizationid: 'visible-org' });
    await app.get('product/max');
    const { text } = await get('/metrics');
    expect(text).toMatch(
      /tidemark_http_request_seconds_count\{method="GET",route="[^"]*product\/max",status="200"\} \d/,
    );
    expect(text).not.toContain('visible-org');
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
