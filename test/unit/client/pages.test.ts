import { ConnectionError, type Tidemark } from '../../../client/src/index.js';
import { json, type Play, problem, Served } from './served.js';

let served: Served;
afterEach(() => served.stop());

const SETTLED = '2026-11-20T10:00:00.000Z';
const item = (id: string) => ({ id, lastUpdated: SETTLED });
const page = (ids: string[], nextoffsetid: string, to = SETTLED): Play =>
  json({ result: ids.map(item), nextoffsetid }, { 'Tidemark-To': to });
const queries = () => served.paths.map((path) => Object.fromEntries(new URL(path, 'http://x').searchParams));

async function all<T>(pages: AsyncIterable<T>): Promise<T[]> {
  const seen: T[] = [];
  for await (const one of pages) seen.push(one);
  return seen;
}

describe('a feed of the seed', () => {
  it('goes on until nextoffsetid is empty; the Tidemark-To of the first page is the to of all', async () => {
    served = await Served.start(page(['a', 'b'], 'n1'), page(['c'], 'n2'), page([], ''));
    const from = new Date('2026-11-01T00:00:00.000Z');
    const feed = served.client().softdeletes('product', 'bikes', { from, limit: 2 });
    expect((await all(feed)).map(({ id }) => id)).toEqual(['a', 'b', 'c']);
    const rest = { from: from.toISOString(), limit: '2' };
    expect(queries()).toEqual([
      { ...rest, to: '9999-01-01T00:00:00.000Z' },
      { ...rest, to: SETTLED, lastoffsetid: 'n1' },
      { ...rest, to: SETTLED, lastoffsetid: 'n2' },
    ]);
  });

  it('shows its pages, each with the to of the first', async () => {
    served = await Served.start(page(['a'], 'n1'), page([], ''));
    const pages = await all(served.client().harddeletes('member', { to: '2027-01-01' }).pages());
    expect(pages).toEqual([
      { result: [item('a')], nextoffsetid: 'n1', to: SETTLED },
      { result: [], nextoffsetid: '', to: SETTLED },
    ]);
  });

  it('where a header is hidden, as from pages of another site, the to that was sent stays', async () => {
    const bare = json({ result: [], nextoffsetid: '' });
    served = await Served.start(bare);
    const [only] = await all(
      served
        .client()
        .updates('member', 'default', { to: new Date(SETTLED) })
        .pages(),
    );
    expect(only?.to).toBe(SETTLED);
  });

  it('begins anew each time that it is read', async () => {
    served = await Served.start(page(['a'], ''), page(['a'], ''));
    const feed = served.client().updates('member', 'default');
    expect([(await all(feed)).length, (await all(feed)).length]).toEqual([1, 1]);
  });

  it('asks for no further page once nobody reads it any more', async () => {
    served = await Served.start(page(['a', 'b'], 'n1'));
    for await (const { id } of served.client().updates('member', 'default')) if (id === 'a') break;
    expect(served.received).toHaveLength(1);
  });

  it('a page that fails for good is thrown where it is due', async () => {
    served = await Served.start(page(['a'], 'n1'), problem(410, 'history-expired'));
    const seen: string[] = [];
    const read = async () => {
      for await (const { id } of served.client().harddeletes('member')) seen.push(id);
    };
    await expect(read()).rejects.toThrow('410 history-expired');
    expect(seen).toEqual(['a']);
  });

  it.each([{}, { result: [] }, { nextoffsetid: '' }, [], null])(
    'an answer that is no page, as of something in front of the service, ends it: %j',
    async (body) => {
      served = await Served.start(json(body), json(body));
      const read = all(served.client().harddeletes('product').pages());
      await expect(read).rejects.toThrow(
        'The answer is no page of harddeletes: it lacks result or nextoffsetid.',
      );
      expect(served.received).toHaveLength(1);
    },
  );

  it('an aborted signal ends it between two pages', async () => {
    served = await Served.start(page(['a'], 'n1'));
    const leaving = new AbortController();
    const read = async () => {
      const feed = served.client().updates('member', 'default', { signal: leaving.signal });
      for await (const _item of feed) leaving.abort(new Error('enough'));
    };
    await expect(read()).rejects.toThrow('enough');
    expect(served.received).toHaveLength(1);
  });
});

describe('changes', () => {
  const changes = (ids: string[], cursor: string, next?: string): Play =>
    json({ result: ids.map(item), to: SETTLED, nextoffsetid: next ? cursor : '', cursor, next });

  it('go on by their cursor, with nothing else but limit, to the end of the window', async () => {
    served = await Served.start(changes(['a'], 'c1', '/x'), changes(['b'], 'c2', '/y'), changes([], 'c3'));
    const asked = { from: '2026-01-01', deletes: undefined, limit: 1 };
    const pages = await all(served.client().changes('product', 'bikes', asked).pages());
    expect(pages.map(({ cursor, next }) => [cursor, next])).toEqual([
      ['c1', '/x'],
      ['c2', '/y'],
      ['c3', undefined],
    ]);
    expect(queries()).toEqual([
      { from: '2026-01-01', limit: '1' },
      { cursor: 'c1', limit: '1' },
      { cursor: 'c2', limit: '1' },
    ]);
  });

  it('begin at a cursor, and of a channel too', async () => {
    served = await Served.start(changes(['a'], 'c2'));
    expect(await all(served.client().channel('web & shop').changes({ cursor: 'c1' }))).toHaveLength(1);
    expect(served.paths).toEqual(['api/v1/productbychannel/web%20%26%20shop/changes?cursor=c1']);
  });
});

it('a digest asks for its buckets one by one', async () => {
  served = await Served.start(json({ to: SETTLED, count: 0, digest: '0', buckets: [] }));
  await served.client().digest('member', 'default', { to: SETTLED, buckets: 256, bucket: [7, 9] });
  expect(served.paths[0]).toBe(
    `api/v1/member/default/digest?to=${encodeURIComponent(SETTLED)}&buckets=256&bucket=7&bucket=9`,
  );
});

it.each([{ result: [] }, {}, null, { result: {}, to: SETTLED, cursor: 'c1' }])(
  'what is no page of changes moves no cursor: %j',
  async (body) => {
    served = await Served.start(json(body));
    const pages = served.client().changes('product', 'default', { cursor: 'c0' }).pages();
    await expect(all(pages)).rejects.toThrow('The answer is no page of changes');
  },
);

it.each([{}, { count: 1 }, null])('an answer without sums is no digest: %j', async (body) => {
  served = await Served.start(json(body));
  const digest = served.client({ retries: { times: 0 } }).digest('product', 'default', { to: SETTLED });
  await expect(digest).rejects.toThrow('The answer is no digest: it lacks buckets.');
});

it('an answer without a number of records is no digest: a comparison with it would ask for no record', async () => {
  served = await Served.start(json({ to: SETTLED, digest: '0', buckets: [] }));
  const digest = served.client({ retries: { times: 0 } }).digest('product', 'default', { to: SETTLED });
  await expect(digest).rejects.toThrow('The answer is no digest: it lacks count.');
});

it('a caller that reads numbers in a type of its own gets digests and schemas', async () => {
  served = await Served.start(json({ count: 2, buckets: [] }), json({ 'x-tidemark-version': 1 }));
  const parse = (text: string): unknown =>
    JSON.parse(text, (_key, value: unknown) => (typeof value === 'number' ? BigInt(value) : value));
  const client = served.client({ parse });
  expect((await client.digest('product', 'default', { to: SETTLED })).count).toBe(2n);
  expect((await client.schema('product', 'default'))['x-tidemark-version']).toBe(1n);
});

const CALLS: [name: string, call: (client: Tidemark) => Promise<unknown>, says: string][] = [
  ['max', (client) => client.max('product'), 'The answer is no mark: it lacks offset.'],
  ['schema', (client) => client.schema('product', 'bikes'), 'The answer is no schema of a service'],
  ['get', ({ member }) => member.get('7'), 'The answer is no member: it lacks id.'],
  ['create', ({ member }) => member.create({ accountnumber: '1', email: 'a@b' }), 'The answer is no member'],
  ['patch', ({ member }) => member.patch('7', {}), 'The answer is no member'],
  ['patchAddress', ({ member }) => member.patchAddress('7', {}), 'The answer is no member'],
];

describe.each(CALLS)('%s: an answer of something in front of the service is none', (_name, call, says) => {
  it.each([{}, [], null, 'OK'])('%j', async (body) => {
    served = await Served.start(json(body, { etag: '"1"' }));
    const failure = await call(served.client({ retries: { times: 0 } })).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(ConnectionError);
    expect((failure as Error).message).toContain(says);
    expect(served.received).toHaveLength(1);
  });

  it('304 to a request that names no tag', async () => {
    served = await Served.start((response) => response.writeHead(304).end());
    await expect(call(served.client({ retries: { times: 0 } }))).rejects.toThrow(says);
  });
});

it('what was no mark is not kept for the next 304', async () => {
  const mark = { offset: SETTLED };
  served = await Served.start(json({}, { etag: '"1"' }), json(mark));
  const client = served.client();
  await expect(client.max('member')).rejects.toThrow(ConnectionError);
  expect(await client.max('member')).toEqual(mark);
  expect(served.received[1]!.headers).not.toHaveProperty('if-none-match');
});
