import { MaxService } from '../../src/replication/feed/index.js';
import { hashPassword } from '../../src/auth/index.js';
import {
  eventually,
  expectProblem,
  Gate,
  send,
  type TestApplication,
  TestService,
} from '../support/index.js';
import { EventClient } from './event-client.js';
import { commandsDuring, nameOf } from './profiler.js';

const MANY = 500;
const ATTEMPTS = 10;
/** What the leader and timers write, and how every instance listens. */
const NOT_OF_EVENTS =
  /^(getMore \$cmd|update tidemark\.(leases|watchtotals|consumers|credentialuses)|insert tidemark\.audittrail|\w+ system\.)/;

let service: TestService;
let app: TestApplication;
const clients: EventClient[] = [];

/** Streams that are served often, so that no test waits for seconds. */
const QUICK = { EVENTS_CHECK_MS: '50', EVENTS_COMMENT_MS: '100' };

beforeAll(async () => {
  service = await TestService.start(QUICK);
});
beforeEach(async () => {
  app = await service.application();
  await app.product();
  await app.member();
  await service.watcher.caughtUp();
});
afterEach(() => clients.splice(0).forEach((client) => client.leave()));
afterAll(() => service.stop());

async function opened(
  kind: 'member' | 'product' = 'product',
  options: { user?: string; lastEventId?: string; of?: TestApplication } = {},
): Promise<EventClient> {
  const client = await EventClient.open(options.of ?? app, kind, options);
  clients.push(client);
  return client;
}

/** A change of another program, and the `max` behind it. */
async function changed(): Promise<Date> {
  const before = await app.max('product');
  await eventually(() => Date.now() > before.getTime());
  await app.product({ lastupdated: new Date() });
  await service.watcher.caughtUp();
  const max = await app.max('product');
  expect(max.getTime()).toBeGreaterThan(before.getTime());
  return max;
}

describe('`event: max`, whose id and data are the offset that `max` answers', () => {
  it('the current one at once, and another whenever it has moved', async () => {
    const offset = (await app.max('product')).toISOString();
    const client = await opened();
    await eventually(() => client.events.length === 1);
    expect(client.events).toEqual([{ event: 'max', id: offset, data: offset }]);
    const next = await changed();
    await client.hears(next);
    const gone = await app.product({ lastupdated: new Date() });
    await app.remove('product', gone);
    await client.hears(await app.max('product'));
    expect(new Set(client.events.map(({ id }) => id)).size).toBe(client.events.length);
  });

  it('no client has to ask for max, nor anybody else: the events alone raise the mark', async () => {
    const client = await opened();
    await eventually(() => client.events.length === 1);
    const [first] = client.events;
    await app.product({ lastupdated: new Date() });
    await eventually(() => (client.last ?? '') > (first?.id ?? ''));
    await client.hears(await app.max('product'));
  });

  it('not the current one where Last-Event-ID equals it, nor that of another kind', async () => {
    const known = await app.max('product');
    const members = await opened('member', { lastEventId: (await app.max('member')).toISOString() });
    const client = await opened('product', { lastEventId: known.toISOString() });
    const outdated = await opened('product', { lastEventId: '2020-01-01T00:00:00.000Z' });
    const strange = await opened('product', { lastEventId: 'x'.repeat(8000) });
    await Promise.all([outdated.hears(known), strange.hears(known)]);
    await client.hearsComments(3);
    expect(client.events).toEqual([]);
    const next = await changed();
    await client.hears(next);
    expect(client.events.map(({ id }) => id)).not.toContain(known.toISOString());
    await members.hearsComments(3);
    expect(members.events).toEqual([]);
  });

  it('as text/event-stream that nobody keeps or gathers, also where nothing is there yet', async () => {
    const empty = await service.application();
    const client = await opened('member', { of: empty });
    expect(client.answer.headers).toMatchObject({
      'content-type': 'text/event-stream',
      'cache-control': 'private, no-cache, no-transform',
    });
    expect(client.answer.headers).not.toHaveProperty('content-encoding');
    await client.hears(new Date(0));
  });

  it('HEAD answers as GET does, without a body', async () => {
    const answer = await app.send('HEAD', 'api/v1/product/events', { user: app.user('read') });
    expect([answer.status, answer.text]).toEqual([200, '']);
    expect(answer.headers.get('content-type')).toBe('text/event-stream');
  });

  it('401 without credentials, 404 for an application that they do not cover', async () => {
    expectProblem(await app.get('product/events', { user: null }), 401, 'unauthorized');
    const other = await service.application();
    const answer = await app.get('product/events', { user: other.user('read') });
    expectProblem(answer, 404, 'unknown-application');
  });
});

describe('a stream ends, with a hint when to come back, once its login is good no more', () => {
  const credentials = () => service.db.collection('credentials');
  const set = (username: string, fields: object) => credentials().updateOne({ username }, { $set: fields });

  it.each<[string, (user: string) => Promise<unknown>]>([
    ['revoked', (username) => credentials().deleteOne({ username })],
    ['disabled', (username) => set(username, { disabled: true })],
    ['expired', (username) => set(username, { expiresAt: new Date() })],
    [
      'given another password',
      async (user) => set(user, { passwordhash: await hashPassword('another one') }),
    ],
    ['kept from this application', (username) => set(username, { scopes: [] })],
  ])('%s', async (_name, close) => {
    const user = await app.credential();
    const [client, other] = [await opened('product', { user }), await opened()];
    await client.hearsComments(2);
    await close(user);
    await eventually(() => client.hasEnded);
    expect(client.retry).toBeGreaterThan(0);
    await other.hearsComments(2);
    expect(other.hasEnded).toBe(false);
  });

  it('nor where its application is gone', async () => {
    const client = await opened();
    await client.hearsComments(2);
    await service.db.collection('applications').deleteOne(app.tenant);
    await eventually(() => client.hasEnded);
  });

  it('not where its level is changed, or the old password is kept', async () => {
    const user = await app.credential();
    const client = await opened('product', { user });
    const { passwordhash } = (await credentials().findOne({ username: user }))!;
    await set(user, {
      ...{ level: 'write', passwordhash: await hashPassword('another one') },
      ...{ oldpasswordhash: passwordhash as string, oldexpiresAt: new Date(Date.now() + 3_600_000) },
    });
    await service.heard();
    await client.hearsComments(3);
    expect(client.hasEnded).toBe(false);
  });
});

describe('what many cost the database', () => {
  /** On a machine that does much else what is known may be too old for a while: then the same once more. */
  async function asked(work: () => Promise<unknown>, expected: string[]): Promise<string[]> {
    let commands: string[] = [];
    for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
      await service.knows(app);
      const seen = await commandsDuring(service.db, work);
      commands = seen.map(nameOf).filter((name) => !NOT_OF_EVENTS.test(name));
      if (commands.join() === expected.join()) break;
    }
    return commands;
  }

  it('500 that wait: no command at all, and one raise and one look for all of them when something changes', async () => {
    const all = await Promise.all(Array.from({ length: MANY }, () => opened()));
    await eventually(() => all.every(({ events }) => events.length === 1));
    expect(await service.metric('tidemark_event_subscribers')).toBe(MANY);
    expect(await asked(() => all[0]!.hearsComments(5), [])).toEqual([]);
    const ofChange = ['find products', 'find tidemark.ledger', 'update tidemark.marks'];
    let commands: string[] = [];
    for (let attempt = 0; attempt < ATTEMPTS && commands.join() !== ofChange.join(); attempt += 1) {
      await service.knows(app);
      const known = all[0]!.last!;
      const seen = await commandsDuring(service.db, async () => {
        await app.product({ lastupdated: new Date() });
        await eventually(() => all.every(({ last }) => last! > known));
      });
      commands = seen
        .filter(({ ns, command }) => command['comment'] === 'tidemark max' || ns.endsWith('.tidemark.marks'))
        .map(nameOf)
        .sort();
    }
    expect(commands).toEqual(ofChange);
    expect(await asked(() => all[0]!.hearsComments(5), [])).toEqual([]);
    clients.splice(0).forEach((client) => client.leave());
    await eventually(async () => (await service.metric('tidemark_event_subscribers')) === 0);
  });
});

describe('faults', () => {
  it('while the database is away nothing but comments comes, and events come again behind it', async () => {
    const gate = await Gate.to(service.uri);
    await gate.open();
    const behind = await service.another({ ...QUICK, MONGODB_URI: gate.uri });
    try {
      const client = await opened('product', { of: app.seenBy(behind) });
      await client.hears(await app.max('product'));
      const [known] = client.events;
      await gate.shut();
      await app.product({ lastupdated: new Date() });
      await service.watcher.caughtUp();
      await client.hearsComments(5);
      expect([client.events, client.hasEnded]).toEqual([[known], false]);
      await gate.open();
      const max = service.app.get(MaxService, { strict: false });
      await client.hears(await max.max(app.tenant, 'product'));
    } finally {
      await behind.leave();
      await gate.shut();
    }
  });

  it('a service that stops ends all streams at once, with a hint when to come back', async () => {
    const leaving = await service.another();
    const [one, other] = [
      await opened('product', { of: app.seenBy(leaving) }),
      await opened('member', { of: app.seenBy(leaving) }),
    ];
    await leaving.leave();
    await eventually(() => one.hasEnded && other.hasEnded);
    expect([one.retry, other.retry]).toEqual([expect.any(Number), expect.any(Number)]);
    await expect(send(`${leaving.url}/health/live`, 'GET', {})).rejects.toThrow();
  });
});
