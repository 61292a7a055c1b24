import { ConnectionError, ProblemError, type Retries, type Tidemark } from '../../../client/src/index.js';
import { brokenOff, cut, json, type Play, problem, Served, short } from './served.js';

let served: Served;
afterEach(() => served.stop());

const MAX = json({ offset: '2026-11-20T10:00:00.000Z' });
const MEMBER = json({ id: 'm1' }, { ETag: '"e1"' });
const NEVER = new Date(Number.NaN);
const whole = async (items: AsyncIterable<unknown>) => {
  for await (const _item of items);
};
const failure = (call: Promise<unknown>) =>
  call.then(
    () => undefined,
    (error: unknown) => error,
  );

describe('a read is repeated', () => {
  it.each<[string, Play]>([
    ['503', problem(503, 'not-watched')],
    ['429', problem(429, 'quota-used-up')],
    ['502 of a proxy', (response) => response.writeHead(502).end('<html>')],
    ['504 of a proxy', (response) => response.writeHead(504).end()],
    ['a connection that is cut', cut],
    ['an answer that breaks off', brokenOff],
    ['an answer that is not JSON', short],
  ])('on %s', async (_name, play) => {
    served = await Served.start(play, play, MAX);
    expect(await served.client().max('product')).toEqual({ offset: '2026-11-20T10:00:00.000Z' });
    expect(served.paths).toEqual(Array(3).fill('api/v1/product/max'));
  });

  it('so many times, and then the failure is thrown', async () => {
    served = await Served.start(...Array<Play>(3).fill(problem(503, 'preparing', { 'Retry-After': '0' })));
    const error = await failure(served.client({ retries: { times: 2 } }).max('member'));
    expect(error).toBeInstanceOf(ProblemError);
    expect(error).toMatchObject({ status: 503, slug: 'preparing', retryAfter: 0 });
    expect(served.received).toHaveLength(3);
  });

  it('as often as without it where times is undefined, as of an option that was not given', async () => {
    served = await Served.start(...Array<Play>(10).fill(problem(503, 'preparing', { 'Retry-After': '0' })));
    const retries = { times: undefined, firstMs: 1 } as unknown as Partial<Retries>;
    await failure(served.client({ retries }).max('member'));
    expect(served.received).toHaveLength(9);
  });

  it('on a success without a body', async () => {
    served = await Served.start((response) => response.writeHead(200).end(), MAX);
    expect(await served.client().max('member')).toEqual({ offset: '2026-11-20T10:00:00.000Z' });
  });

  it('where no answer comes at all, ConnectionError says why', async () => {
    served = await Served.start(cut, cut);
    const error = await failure(served.client({ retries: { times: 1 } }).max('member'));
    expect(error).toBeInstanceOf(ConnectionError);
    expect((error as Error).message).toMatch(/^GET member\/max has no whole answer: .+/);
    expect((error as Error).cause).toBeDefined();
  });

  it('where each address of a host refuses, ConnectionError says it of each', async () => {
    served = await Served.start();
    const refused = ['::1', '127.0.0.1'].map((host) => new Error(`connect ECONNREFUSED ${host}:3000`));
    const cause = Object.assign(new AggregateError(refused), { code: 'ECONNREFUSED' });
    const fetch = () => Promise.reject(new TypeError('fetch failed', { cause }));
    const error = await failure(served.client({ fetch, retries: { times: 0 } }).max('member'));
    expect((error as Error).message).toBe(
      'GET member/max has no whole answer: fetch failed: connect ECONNREFUSED ::1:3000, connect ECONNREFUSED 127.0.0.1:3000',
    );
  });

  it('not where Retry-After asks for longer than the longest wait', async () => {
    served = await Served.start(problem(429, 'too-many-logins', { 'Retry-After': '61' }));
    expect(await failure(served.client().max('member'))).toMatchObject({ status: 429, retryAfter: 61 });
    expect(served.received).toHaveLength(1);
  });

  it.each([
    [400, 'invalid-request'],
    [401, 'unauthorized'],
    [404, 'unknown-service'],
    [410, 'history-expired'],
    [500, 'service-misconfigured'],
  ])('not on %s %s', async (status, slug) => {
    served = await Served.start(problem(status, slug));
    expect(await failure(served.client().max('member'))).toMatchObject({ status, slug });
    expect(served.received).toHaveLength(1);
  });
});

describe('a request that cannot be made is no failure of the network, and is sent nowhere', () => {
  it.each<[string, RegExp, (client: Tidemark) => Promise<unknown>]>([
    [
      'no time',
      /^from is not a time/,
      (client) => whole(client.updates('product', 'default', { from: NEVER })),
    ],
    ['half of a character', /URI malformed/, (client) => client.member.get('\ud83d')],
    ['no JSON', /BigInt/, (client) => client.member.patch('m1', { elevel: 1n as unknown as number })],
    ['no header', /header/i, (client) => client.member.patch('m1', {}, { ifMatch: 'a\nb' })],
  ])('%s', async (_what, message, call) => {
    served = await Served.start();
    const error = await failure(call(served.client()));
    expect(error).not.toBeInstanceOf(ConnectionError);
    expect((error as Error).message).toMatch(message);
    expect(served.received).toEqual([]);
  });
});

describe('a write is repeated only where the service refused it before it looked at it', () => {
  it.each<[string, Play]>([
    ['429', problem(429, 'quota-used-up')],
    ['503 busy', problem(503, 'busy')],
  ])('on %s', async (_name, play) => {
    served = await Served.start(play, MEMBER);
    const { member, etag } = await served.client().member.patch('m1', { elevel: 2 });
    expect([member.id, etag]).toEqual(['m1', '"e1"']);
    expect(served.received.map(({ body }) => body)).toEqual(Array(2).fill('{"elevel":2}'));
  });

  it.each<[string, Play]>([
    ['503 database-away', problem(503, 'database-away')],
    ['502 of a proxy', (response) => response.writeHead(502).end()],
    ['a connection that is cut', cut],
    ['an answer that breaks off', brokenOff],
    ['409', problem(409, 'member-modified')],
  ])('not on %s', async (_name, play) => {
    served = await Served.start(play, play, play);
    const { member } = served.client();
    expect(await failure(member.create({ accountnumber: '1', email: 'a@b' }))).toBeInstanceOf(Error);
    expect(await failure(member.patch('m1', { elevel: 2 }))).toBeInstanceOf(Error);
    expect(await failure(member.patchAddress('m1', { city: 'Vienna' }))).toBeInstanceOf(Error);
    expect(served.received.map(({ method, path }) => `${method} ${path}`)).toEqual([
      'POST api/v0.1/member',
      'PATCH api/v0.1/member/m1',
      'PATCH api/v0.1/member/m1/address',
    ]);
  });
});

describe('an aborted signal ends a call, with its reason', () => {
  it('while it waits for the next attempt', async () => {
    const leaving = new AbortController();
    served = await Served.start((response, received) => {
      problem(503, 'preparing', { 'Retry-After': '50' })(response, received);
      response.once('close', () => leaving.abort(new Error('enough')));
    });
    await expect(served.client().max('member', { signal: leaving.signal })).rejects.toThrow('enough');
  });

  it('while nothing comes', async () => {
    const leaving = new AbortController();
    served = await Served.start(() => leaving.abort(new Error('enough')));
    await expect(served.client().max('member', { signal: leaving.signal })).rejects.toThrow('enough');
  });

  it('before anything is sent', async () => {
    served = await Served.start();
    const signal = AbortSignal.abort(new Error('enough'));
    await expect(served.client().max('member', { signal })).rejects.toThrow('enough');
    expect(served.received).toEqual([]);
  });
});
