import { once } from 'node:events';
import { get, type IncomingMessage, type ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { Gauges } from '../../src/health/index.js';
import { Metrics } from '../../src/platform/observability/index.js';
import { ConsumerNotes } from '../../src/replication/feed/index.js';
import { eventually, Gate, PASSWORD, send, type TestApplication, TestService } from '../support/index.js';
import { onceServed } from '../support/patience.js';
import { AdminConsole } from './admin-console.js';
import { SlowClient } from './slow-client.js';

let service: TestService;
let app: TestApplication;
let root: string;

beforeAll(async () => {
  service = await TestService.start();
  app = await service.application();
  root = await app.credential({ level: 'admin', scopes: [{ organizationid: '*', appid: '*' }] });
});
afterAll(() => service.stop());

interface Report {
  username: string;
  state: string;
  [field: string]: unknown;
}

const MINUTE_MS = 60_000;
const KINDS_OF_CONSUMERS = {
  current: 6,
  behind: 4,
  stalled: 4,
  looping: 2,
  'never finished': 2,
  'must start over': 2,
};

const updates = (user: string, query: Record<string, string>) =>
  app.get('product/default/updates', { user, query });

async function reports(user = root): Promise<Report[]> {
  await service.app.get(ConsumerNotes, { strict: false }).flush();
  const { json } = await send(`${service.url}/admin/v1/consumers`, 'GET', { user });
  return (json as { result: Report[] }).result;
}

/** As if somebody had last called a minute ago. */
async function age(username: string): Promise<void> {
  const back = { $subtract: ['$lastCall', MINUTE_MS] };
  const update = [{ $set: { lastCall: back, firstCall: back, 'ended.at': back } }];
  await service.db.collection('tidemark.consumers').updateMany({ '_id.username': username }, update);
}

async function behave(
  state: string,
  user: string,
  { from, to }: { from: string; to: string },
): Promise<void> {
  if (state === 'current') await updates(user, { to });
  else if (state === 'behind' || state === 'stalled') await updates(user, { to: from });
  else if (state === 'looping') for (let turn = 0; turn < 5; turn += 1) await updates(user, { from, to });
  else if (state === 'never finished')
    for (let turn = 0; turn < 3; turn += 1)
      await updates(user, { to, limit: '1', from: shifted(from, turn) });
  else {
    await updates(user, { from, to });
    await service.db
      .collection('tidemark.horizons')
      .updateOne(
        { _id: { ...app.tenant, kind: 'product' } },
        { $set: { lastupdated: new Date(Date.now() + MINUTE_MS) } },
        { upsert: true },
      );
    expect((await app.get('product/harddeletes', { user, query: { from, to } })).status).toBe(410);
  }
}

const shifted = (date: string, ms: number) => new Date(Date.parse(date) + ms).toISOString();

describe('Consumers', () => {
  it('twenty of every kind are told apart', async () => {
    const start = Date.now() - 5000;
    const [first] = await app.products(20, (index) => ({ lastupdated: new Date(start + index) }));
    await service.watcher.caughtUp();
    const to = (await app.max('product')).toISOString();
    const from = (first!['lastupdated'] as Date).toISOString();
    const expected = new Map<string, string>();
    // Passwords are hashed first: a consumer that has not called for 15 s counts as stalled.
    for (const [state, count] of Object.entries(KINDS_OF_CONSUMERS))
      for (let one = 0; one < count; one += 1) expected.set(await app.credential(), state);
    for (const [user, state] of expected) await behave(state, user, { from, to });
    const found = await reports();
    for (const [user, state] of expected) if (state === 'stalled') await age(user);
    const told = new Map((await reports()).map(({ username, state }) => [username, state]));
    expect(told).toEqual(expected);
    expect(found.find(({ username }) => expected.get(username) === 'behind')).toMatchObject({
      ...{ ...app.tenant, kind: 'product', service: 'default', behindRecords: 19, behindSeconds: 0.019 },
      ...{ pages: 1, items: 1, errors: 0, lastError: null, from: null, to: from },
    });
    expect(found.find(({ username }) => expected.get(username) === 'current')).toMatchObject({
      ...{ behindRecords: 0, behindSeconds: 0, pages: 1, items: 20 },
    });
    await service.app.get(Gauges, { strict: false }).refresh();
    const shown = await service.app.get(Metrics, { strict: false }).registry.metrics();
    for (const [state, count] of Object.entries(KINDS_OF_CONSUMERS))
      expect(shown).toContain(`tidemark_consumers{state="${state}"} ${count}\n`);
    // Without METRICS_PORT everyone may read the metrics.
    expect(shown).not.toContain('tidemark_consumer_lag_seconds{');
    const text = (await new AdminConsole(service.uri).run('consumer list')).output;
    for (const user of expected.keys()) expect(text).toContain(user);
  });

  it('what is written one time after the other adds up, and requests without right or service are nobody', async () => {
    const mine = await service.application();
    await mine.products(3);
    const user = mine.user('read');
    await mine.feed('product').page();
    await reports();
    await mine.feed('product').page();
    await mine.get('product/nothing/updates', { query: { to: '2026-01-01' } });
    // Parameters are checked before the service is looked up (contract §3).
    for (const feed of [
      'product/nothing/updates',
      'product/nothing/changes',
      'productbychannel/none/updates',
    ])
      expect((await mine.get(feed, { query: { to: 'x' } })).status).toBe(400);
    await mine.get('product/default/updates', { user, password: 'wrong', query: { to: '2026-01-01' } });
    const bad = await mine.get('product/default/updates', { query: { to: 'x' } });
    expect(bad.status).toBe(400);
    const seen = (await reports()).filter(({ organizationid }) => organizationid === mine.organizationid);
    expect(seen).toHaveLength(1);
    expect(seen[0]).toMatchObject({
      username: user,
      pages: 2,
      items: 6,
      errors: 1,
      lastError: { status: 400 },
    });
  });

  it('an administrator sees those of their own applications only', async () => {
    const other = await service.application();
    await other.feed('product').page();
    await app.feed('product').page();
    const theirs = await reports(app.user('admin'));
    expect(theirs.length).toBeGreaterThan(0);
    expect(theirs.every(({ organizationid }) => organizationid === app.organizationid)).toBe(true);
  });

  it.each(['application/json', 'application/x-ndjson'])(
    'whoever went away in the middle of a page of changes has not read its window to the end (%s)',
    async (accept) => {
      const mine = await service.application();
      const large = 'x'.repeat(20_000);
      await mine.products(1000, () => ({ data: { large } }));
      await service.watcher.caughtUp();
      const client = await SlowClient.open(mine, 'product/default/changes', { accept, query: 'limit=2000' });
      client.leave();
      await eventually(async () => (await reportOn(mine)) !== undefined);
      expect(await reportOn(mine)).toMatchObject({ pages: 1, lastEnded: null });
      const all = await SlowClient.open(mine, 'product/default/changes', { accept, query: 'limit=2000' });
      expect((await all.rest()).isWhole).toBe(true);
      await eventually(async () => (await reportOn(mine))?.['pages'] === 2);
      expect((await reportOn(mine))?.['lastEnded']).not.toBeNull();
    },
  );

  it('HEAD has read nothing, and nobody is told of it', async () => {
    const mine = await service.application();
    await mine.products(3);
    await service.watcher.caughtUp();
    const asked = { user: mine.user('read'), query: { to: (await mine.max('product')).toISOString() } };
    for (const feed of ['changes', 'updates']) {
      const path = `api/v1/product/default/${feed}`;
      const head = await onceServed(() => mine.send('HEAD', path, asked));
      expect(head.status).toBe(200);
    }
    const told = (await reports()).filter(({ organizationid }) => organizationid === mine.organizationid);
    expect(told.filter(({ service: name }) => name === 'default')).toEqual([]);
  });
});

describe('who goes away before an answer is sent', () => {
  let gate: Gate;
  let behind: TestService;
  let mine: TestApplication;

  beforeAll(async () => {
    gate = await Gate.to(service.uri);
    await gate.open();
    behind = await service.another({ MONGODB_URI: gate.uri });
  });
  beforeEach(async () => {
    mine = (await service.application()).seenBy(behind);
    await mine.products(2);
    await service.watcher.caughtUp();
  });
  afterAll(async () => {
    await behind.leave();
    await gate.shut();
  });

  /** Goes away while the request waits for the database, to which it has sent this name. */
  async function leaveBefore(path: string, query: Record<string, string>, name: string): Promise<void> {
    gate.hold((command) => command.includes(name));
    const received = once(behind.app.getHttpServer(), 'request') as Promise<
      [IncomingMessage, ServerResponse]
    >;
    const { organizationid, appid } = mine;
    const url = `${behind.url}/${organizationid}/${appid}/api/v1/${path}?${new URLSearchParams(query).toString()}`;
    const request = get(url, { auth: `${mine.user('read')}:${PASSWORD}`, agent: false });
    request.on('error', () => undefined);
    const [, response] = await received;
    await eventually(() => gate.holding > 0);
    expect(response.headersSent).toBe(false);
    const closed = once(response, 'close');
    request.destroy();
    await closed;
    gate.release();
  }

  async function told(): Promise<Report[]> {
    await behind.app.get(ConsumerNotes, { strict: false }).flush();
    return (await reports()).filter(({ organizationid }) => organizationid === mine.organizationid);
  }

  it('is no consumer of a service that does not exist', async () => {
    const to = (await mine.max('product')).toISOString();
    await leaveBefore('product/imagined/updates', { to }, 'imagined');
    expect(await told()).toEqual([]);
  });

  it('has not read the hard deletes', async () => {
    const to = (await mine.max('product')).toISOString();
    const from = shifted(to, -1);
    expect((await mine.get('product/default/updates', { query: { from, to } })).status).toBe(200);
    const lastupdated = new Date(Date.now() + MINUTE_MS);
    const _id = { ...mine.tenant, kind: 'product' };
    await service.db
      .collection('tidemark.horizons')
      .updateOne({ _id }, { $set: { lastupdated } }, { upsert: true });
    expect((await mine.get('product/harddeletes', { query: { from, to } })).status).toBe(410);
    await leaveBefore('product/harddeletes', { from, to }, 'tidemark.horizons');
    expect(await told()).toMatchObject([{ service: 'default', state: 'must start over' }]);
  });

  it('has not read a page that is ready, but waits behind another answer of its connection', async () => {
    const { host, hostname, port } = new URL(behind.url);
    const authorization = `Authorization: Basic ${btoa(`${mine.user('read')}:${PASSWORD}`)}`;
    const to = (await mine.max('product')).toISOString();
    const asked = ['product/events', `product/default/updates?to=${to}`].map(
      (path) =>
        `GET /${mine.organizationid}/${mine.appid}/api/v1/${path} HTTP/1.1\r\nHost: ${host}\r\n${authorization}\r\n\r\n`,
    );
    const answers: ServerResponse[] = [];
    const server = behind.app.getHttpServer();
    const take = (_request: IncomingMessage, answer: ServerResponse) => void answers.push(answer);
    server.on('request', take);
    const socket = connect(Number(port), hostname).on('error', () => undefined);
    socket.resume().write(asked.join(''));
    await eventually(() => answers[1]?.writableEnded === true);
    server.off('request', take);
    socket.destroy();
    await eventually(async () => (await told()).length > 0);
    expect(await told()).toMatchObject([{ service: 'default', pages: 1, lastEnded: null }]);
  });
});

async function reportOn({ organizationid }: TestApplication): Promise<Report | undefined> {
  return (await reports()).find((one) => one['organizationid'] === organizationid);
}
