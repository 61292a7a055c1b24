import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import mongoose from 'mongoose';
import type { Kind } from '../../src/kinds/index.js';
import {
  eventually,
  expectProblem,
  type Item,
  KINDS_AND_WARES,
  PASSWORD,
  type TestApplication,
  TestService,
  WARE,
} from '../support/index.js';
import { queriesOf } from './queries.js';

const { Long } = mongoose.mongo;

interface BucketSum {
  count: number;
  digest: string;
}

interface ServiceDigest extends BucketSum {
  to: string;
  buckets: BucketSum[];
  records?: { id: string; lastupdated: string }[];
}

const ALL = 2n ** 128n;
const FAR = '9999-01-01T00:00:00.000Z';

let service: TestService;
let app: TestApplication;
beforeAll(async () => {
  service = await TestService.withWares();
});
beforeEach(async () => {
  app = await service.application();
});
afterAll(() => service.stop());

async function digestOf(
  path: string,
  query: Record<string, string | string[]>,
  of = app,
): Promise<ServiceDigest & { tidemarkTo: string | null }> {
  const answer = await of.get(path, { query });
  if (answer.status !== 200) throw new Error(`${answer.status} ${answer.text}`);
  return { ...(answer.json as ServiceDigest), tidemarkTo: answer.headers.get('tidemark-to') };
}

const hashOf = (text: string) => createHash('sha256').update(text, 'utf8').digest();
const bucketOf = ({ id }: Item, buckets: number) => hashOf(id)[0]! % buckets;

/** What contract §1 says that items come to. */
function sumOf(items: Item[]): BucketSum {
  const sum = items
    .map(({ id, lastupdated }) => hashOf(`${id}\n${lastupdated}`).toString('hex').slice(0, 32))
    .reduce((all, hex) => (all + BigInt(`0x${hex}`)) % ALL, 0n);
  return { count: items.length, digest: sum.toString(16).padStart(32, '0') };
}

/** The digest of a harvest. */
function computed(items: Item[], to: string, buckets: number): ServiceDigest {
  const each = Array.from({ length: buckets }, (): Item[] => []);
  for (const item of items) each[bucketOf(item, buckets)]!.push(item);
  return { to, ...sumOf(items), buckets: each.map(sumOf) };
}

/** Compares with what a harvest of `updates` up to the same time delivers, which it answers. */
async function expectAgrees(kind: Kind, name: string, to: string): Promise<Item[]> {
  const items = await app.feed(kind, name).drain({ to });
  for (const buckets of [1, 7, 256]) {
    const digest = await digestOf(`${kind}/${name}/digest`, { to, buckets: String(buckets) });
    expect(digest).toEqual({ ...computed(items, to, buckets), tidemarkTo: to });
  }
  return items;
}

describe('the digest is that of the records that `updates` deliver up to `to`', () => {
  it.each(KINDS_AND_WARES)(
    'of a service that filters, and of one that does not, as of each time: %s',
    async (kind) => {
      await app.filter(kind, 'bikes', { 'data.category': 'bikes' });
      await app.many(kind, 40, (n) => ({ id: `p${n}`, data: { category: n % 3 === 0 ? 'bikes' : 'tents' } }));
      await service.watcher.caughtUp();
      const before = (await app.max(kind)).toISOString();
      await app.many(kind, 20, (n) => ({ id: `later${n}`, data: { category: 'bikes' } }));
      await app.remove(kind, await app.put(kind));
      const now = (await app.max(kind)).toISOString();
      expect(await expectAgrees(kind, 'default', before)).toHaveLength(40);
      expect(await expectAgrees(kind, 'default', now)).toHaveLength(60);
      expect(await expectAgrees(kind, 'bikes', before)).toHaveLength(14);
      expect(await expectAgrees(kind, 'bikes', now)).toHaveLength(34);
      expect(await expectAgrees(kind === 'member' ? 'product' : 'member', 'default', now)).toEqual([]);
    },
  );

  it('ids in any script, with line breaks, quotes and what else JSON escapes', async () => {
    const ids = ['ä', '日本', '😀', 'a\nb', 'a\u2028b', '"\\/', '\u0000', ' ', 'x'.repeat(3000)];
    for (const id of ids) await app.member({ id });
    await service.watcher.caughtUp();
    expect(await expectAgrees('member', 'default', (await app.max('member')).toISOString())).toHaveLength(9);
    const { records } = await digestOf('member/default/digest', { to: FAR, buckets: '1', bucket: '0' });
    expect(records?.map(({ id }) => id)).toEqual(ids);
  });

  it.each(['product', WARE])(
    'numbers as ids, of which those that are ignored do not count: %s',
    async (kind) => {
      for (const id of [5, Long.fromNumber(-7), 'text']) await app.put(kind, { id });
      await service.watcher.caughtUp();
      for (const id of ['5', 6, Long.fromNumber(6)]) await app.put(kind, { id });
      await service.watcher.caughtUp();
      const items = await expectAgrees(kind, 'default', (await app.max(kind)).toISOString());
      expect(items.map(({ id }) => id).sort()).toEqual(['-7', '5', '6', 'text']);
    },
  );

  it('what is never delivered does not count', async () => {
    const { organizationid, appid } = app;
    await app.member({ id: 'whole' });
    await app.member({ id: 'nobody', organizationid: [organizationid] });
    await app.member({ id: 'none', appid: [appid] });
    await app.member({ id: ['list'] });
    await service.watcher.caughtUp();
    const items = await expectAgrees('member', 'default', (await app.max('member')).toISOString());
    expect(items.map(({ id }) => id)).toEqual(['whole', expect.stringMatching(/^.{36}$/)]);
  });
});

describe('parameters', () => {
  it('a `to` in the future is the clock, as on the first page of updates', async () => {
    await app.product();
    await service.watcher.caughtUp();
    const { to, tidemarkTo, count } = await digestOf('product/default/digest', { to: FAR });
    expect([to < FAR, tidemarkTo, count]).toEqual([true, to, 1]);
  });

  it('`bucket` lists the records of these buckets, in the order of updates', async () => {
    await app.products(300, (n) => ({ id: `p${299 - n}` }));
    await service.watcher.caughtUp();
    const to = (await app.max('product')).toISOString();
    const query = { to, buckets: '16' };
    const { tidemarkTo: _to, ...whole } = await digestOf('product/default/digest', query);
    const asked = { ...query, bucket: ['9', '7', '9'] };
    const { records, tidemarkTo: _same, ...figures } = await digestOf('product/default/digest', asked);
    expect(figures).toEqual(whole);
    const items = await app.feed('product').drain({ to });
    expect(records).toEqual(
      items
        .filter((item) => [7, 9].includes(bucketOf(item, 16)))
        .map(({ id, lastupdated }) => ({ id, lastupdated })),
    );
    expect(records?.length).toBe(whole.buckets[7]!.count + whole.buckets[9]!.count);
  });

  it.each([
    ['no to', {}, ['to']],
    ['a to that is no date', { to: 'now' }, ['to']],
    ['too many buckets', { to: FAR, buckets: '257' }, ['buckets']],
    ['a bucket that is none of them', { to: FAR, buckets: '7', bucket: ['1', '7'] }, ['bucket']],
    ['buckets twice', { to: FAR, buckets: ['7', '8'] }, ['buckets']],
    ['more buckets than may be listed', { to: FAR, bucket: Array<string>(65).fill('1') }, ['bucket']],
  ])('%s: 400 that names it', async (_name, query, parameters) => {
    const { errors } = expectProblem(
      await app.get('product/default/digest', { query }),
      400,
      'invalid-request',
    );
    expect(errors?.map((one) => 'parameter' in one && one.parameter)).toEqual(parameters);
  });
});

describe('20,000 records', () => {
  const COUNT = 20_000;
  const LONG = 'x'.repeat(900);
  let app: TestApplication;

  beforeAll(async () => {
    app = await service.application();
    for (let part = 0; part < COUNT; part += 5000)
      await app.products(5000, (n) => ({ id: `${LONG}${part + n}`, data: { text: 'y'.repeat(500) } }));
    await service.watcher.caughtUp();
  }, 240_000);

  /** A client that has asked for the records of all buckets, and takes nothing of them. */
  async function stalled(to: string): Promise<IncomingMessage> {
    const buckets = Array.from({ length: 64 }, (_, bucket) => `&bucket=${bucket}`).join('');
    const path = `/${app.organizationid}/${app.appid}/api/v1/product/default/digest`;
    const request = get(`${service.url}${path}?to=${to}&buckets=64${buckets}`, {
      auth: `${app.user('read')}:${PASSWORD}`,
      agent: false,
    });
    const [answer] = (await once(request, 'response')) as [IncomingMessage];
    expect(answer.statusCode).toBe(200);
    return answer;
  }

  it('are read a part at a time, and of each nothing but what is hashed', async () => {
    const to = (await app.max('product')).toISOString();
    const queries = await queriesOf(service, async () => {
      const { count } = await digestOf('product/default/digest', { to }, app);
      expect(count).toBe(COUNT);
    });
    expect(queries.length).toBeGreaterThan(1);
    for (const { command } of queries)
      expect(Object.keys(command['projection'] as object).sort()).toEqual([
        ...['_id', 'appid', 'id', 'lastupdated', 'organizationid'],
      ]);
    const items = await app.feed('product').drain({ to });
    expect(await digestOf('product/default/digest', { to }, app)).toMatchObject(computed(items, to, 256));
  }, 240_000);

  it('one at a time for each credential: 429 `digest-busy`; a client that goes away ends it', async () => {
    const to = (await app.max('product')).toISOString();
    const ask = (user: string) => app.get('product/default/digest', { user, query: { to } });
    const client = await stalled(to);
    const busy = await ask(app.user('read'));
    expectProblem(busy, 429, 'digest-busy');
    expect(Number(busy.headers.get('retry-after'))).toBeGreaterThan(0);
    expect((await ask(app.user('write'))).status).toBe(200);
    client.destroy();
    await eventually(async () => (await ask(app.user('read'))).status === 200);
  }, 240_000);
});
