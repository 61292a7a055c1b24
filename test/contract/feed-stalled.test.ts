import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { type ClientRequest, get, type IncomingMessage } from 'node:http';
import zlib from 'node:zlib';
import { PageBytes } from '../../src/replication/feed/index.js';
import { MemberClient } from './member-client.js';
import {
  eventually,
  type Item,
  PASSWORD,
  type TestApplication,
  TestService,
  WARE,
} from '../support/index.js';

const COUNT = 8000;
const MEGABYTE = 1024 * 1024;
const LIMIT = 1000;
/** What one page has at once if nobody minds: a reply and its text. */
const AT_ONCE = 4 * MEGABYTE;
const SMALL = MEGABYTE / 4;
const FOR_EVER = 10 * 60_000;

const POOL = 3;
const STALLED = 12;

let first: TestService;
let service: TestService;
let app: TestApplication;
let to: string;
let bytes: PageBytes;
const clients: IncomingMessage[] = [];

beforeAll(async () => {
  first = await TestService.withWares();
  service = await first.another({
    MONGODB_URI: `${first.uri}${first.uri.includes('?') ? '&' : '?'}maxPoolSize=${POOL}`,
    QUERY_MS: '4000',
  });
  app = (await first.application()).seenBy(service);
  await app.many(WARE, COUNT, (n) => ({ id: `w${n}`, data: { noise: noise() } }));
  await app.products(COUNT, (n) => ({ id: `p${n}`, data: { noise: noise() } }));
  await first.watcher.caughtUp();
  to = (await app.max('product')).toISOString();
  bytes = service.app.get(PageBytes, { strict: false });
}, 240_000);
afterEach(() => {
  for (const client of clients.splice(0)) client.destroy();
});
afterAll(async () => {
  await service.leave();
  await first.stop();
});

/** A text that no encoder makes small. */
const noise = () => randomBytes(1500).toString('base64');

function asked(feed: string, encoding: string, { url } = service): ClientRequest {
  const path = `/${app.organizationid}/${app.appid}/api/v1/${feed}`;
  const auth = `${app.user('read')}:${PASSWORD}`;
  return get(`${url}${path}`, { auth, agent: false, headers: { 'accept-encoding': encoding } });
}

/** A client that has asked for a large page, and takes nothing of it. */
async function stalled(encoding: string, at: TestService, kind: string): Promise<IncomingMessage> {
  const request = asked(`${kind}/default/updates?limit=10000&to=${to}`, encoding, at);
  const [answer] = (await once(request, 'response')) as [IncomingMessage];
  expect(answer.statusCode).toBe(200);
  clients.push(answer);
  return answer;
}

const all = (count: number, at = service, kind = 'product') =>
  Promise.all(Array.from({ length: count }, (_, n) => stalled(n % 2 === 0 ? 'identity' : 'br', at, kind)));

/** Waits until no page goes on: the queries for items are counted. */
async function nothingMoves(): Promise<void> {
  let before = -1;
  await eventually(async () => {
    const steps = await service.metric('tidemark_feed_steps_total{plan="all"}');
    const isSame = steps === before;
    before = steps;
    return isSame;
  });
}

async function restOf(answer: IncomingMessage): Promise<Item[]> {
  const pieces: Buffer[] = [];
  for await (const piece of answer) pieces.push(piece as Buffer);
  const body = Buffer.concat(pieces);
  const text = answer.headers['content-encoding'] === 'br' ? zlib.brotliDecompressSync(body) : body;
  return (JSON.parse(text.toString()) as { result: Item[] }).result;
}

const expected = Array.from({ length: COUNT }, (_, n) => `p${n}`);

it('pages in flight have a budget; beyond it they go on in small pieces, and others get what they ask for', async () => {
  Object.assign(bytes, { most: AT_ONCE, patienceMs: FOR_EVER });
  await all(STALLED);
  await nothingMoves();
  const held = await service.metric('tidemark_page_bytes_in_flight');
  expect(held).toBeGreaterThan(AT_ONCE / 4);
  expect(held).toBeLessThan(2 * AT_ONCE + STALLED * 2 * SMALL);
  expect((await app.feed('product').page({ to, limit: LIMIT })).ids).toEqual(expected.slice(0, LIMIT));
});

it('no connection to MongoDB and no cursor is held for a client that is slow', async () => {
  await all(STALLED);
  await nothingMoves();
  expect(STALLED).toBeGreaterThan(POOL);
  const ns = `${service.db.databaseName}.products`;
  const open = [{ $currentOp: { allUsers: true, idleCursors: true, localOps: true } }, { $match: { ns } }];
  expect(await service.client.db('admin').aggregate(open).toArray()).toEqual([]);
  expect((await app.feed('product').page({ to, limit: LIMIT })).ids).toHaveLength(LIMIT);
});

it('pages whose queries are slow leave connections for small pages, for `max` and for writes', async () => {
  await app.filter('product', 'slow', { 'data.noise': { $regex: '.*.*[{]$' } });
  let over = 0;
  const leave = new AbortController();
  const slow = Array.from({ length: STALLED }, () =>
    fetch(
      `${service.url}/${app.organizationid}/${app.appid}/api/v1/product/slow/updates?limit=1000&to=${to}`,
      {
        headers: { authorization: `Basic ${btoa(`${app.user('read')}:${PASSWORD}`)}` },
        signal: leave.signal,
      },
    ).then(
      () => (over += 1),
      () => undefined,
    ),
  );
  const running = [
    { $currentOp: { allUsers: true, localOps: true } },
    { $match: { ns: `${service.db.databaseName}.products`, 'command.comment': 'tidemark feed' } },
  ];
  await eventually(async () => (await service.client.db('admin').aggregate(running).toArray()).length > 0);
  expect((await app.feed('product').page({ to, limit: 5 })).ids).toEqual(expected.slice(0, 5));
  expect(await app.max('product')).toEqual(new Date(to));
  expect(
    (await new MemberClient(app).create({ accountnumber: '1', email: 'small@example.org' })).status,
  ).toBe(201);
  expect(over).toBe(0);
  leave.abort();
  await Promise.all(slow);
});

it.each([
  ['product', 'p'],
  [WARE, 'w'],
])(
  'a page of %s that waits for its client releases its memory, and continues complete',
  async (kind, letter) => {
    Object.assign(bytes, { most: AT_ONCE, patienceMs: 0 });
    const answers = await all(4, service, kind);
    await nothingMoves();
    for (let asked = 0; asked < 3; asked += 1) await app.feed(kind).page({ to, limit: LIMIT });
    const ids = Array.from({ length: COUNT }, (_, n) => `${letter}${n}`);
    for (const answer of answers) expect((await restOf(answer)).map(({ id }) => id)).toEqual(ids);
    await eventually(() => bytes.inFlight === 0);
  },
);

it.each(['product', WARE])(
  'a client that takes nothing of a page of %s for STALLED_MS is disconnected, and its memory is free',
  async (kind) => {
    const impatient = await first.another({ STALLED_MS: '1000' });
    const answers = await all(4, impatient, kind);
    await eventually(() => impatient.app.get(PageBytes, { strict: false }).inFlight === 0);
    for (const answer of answers) await expect(restOf(answer)).rejects.toThrow('aborted');
    await impatient.leave();
  },
);

it('a page of small records does not wait behind pages of very large ones', async () => {
  Object.assign(bytes, { most: AT_ONCE, patienceMs: FOR_EVER });
  await app.products(2, (n) => ({
    id: `poster${n}`,
    channels: ['posters'],
    data: { image: 'x'.repeat(6 * MEGABYTE) },
  }));
  await first.watcher.caughtUp();
  const later = (await app.max('product')).toISOString();
  const posters = () => asked(`productbychannel/posters/updates?to=${later}`, 'identity');
  const [answer] = (await once(posters(), 'response')) as [IncomingMessage];
  clients.push(answer);
  const waiting = posters();
  waiting.on('error', () => undefined);
  await eventually(() => bytes.inFlight > 2 * AT_ONCE);
  const few = { to, limit: 5 };
  expect((await app.feed('product').page(few)).ids).toEqual(expected.slice(0, 5));
  waiting.destroy();
  answer.destroy();
  await eventually(() => bytes.inFlight === 0);
});
