import type * as Argon2 from '@node-rs/argon2';
import { getModelToken } from '@nestjs/mongoose';
import type { Model } from 'mongoose';
import { CREDENTIAL_MODEL, hashPassword } from '../../src/auth/index.js';
import { eventually, expectProblem, PASSWORD, type TestApplication, TestService } from '../support/index.js';

const FAILURES = 3;

let service: TestService;
let app: TestApplication;

beforeAll(async () => {
  service = await TestService.start({ LOGIN_FAILURES: String(FAILURES), TRUST_PROXY: '1' });
  app = await service.application();
});
afterAll(() => service.stop());

const from = (address: string, user: string, password = 'wrong') =>
  app.get('product/max', { user, password, headers: { 'x-forwarded-for': address } });

const times = <T>(count: number, make: (index: number) => T) =>
  Array.from({ length: count }, (_, index) => make(index));

describe('many wrong logins at once', () => {
  const argon2 = loadedByNode('@node-rs/argon2') as typeof Argon2;
  afterEach(() => jest.restoreAllMocks());

  /** Comparisons that go on until the test lets them, and how many run at most. */
  function held() {
    const { verify } = argon2;
    const seen = { hashes: [] as unknown[], running: 0, most: 0 };
    let release = () => {};
    const released = new Promise<void>((resolve) => (release = resolve));
    jest.spyOn(argon2, 'verify').mockImplementation(async (hash, password) => {
      seen.hashes.push(hash);
      seen.running += 1;
      seen.most = Math.max(seen.most, seen.running);
      await released;
      try {
        return await verify(hash, password);
      } finally {
        seen.running -= 1;
      }
    });
    return { seen, release: () => release() };
  }

  it('two are compared at a time, a bounded number waits, and the rest is 429 at once with `Retry-After`', async () => {
    const { seen, release } = held();
    const statuses: number[] = [];
    const flood = times(100, (index) =>
      from(`198.51.100.${index}`, `nobody-${index}`).then((answer) => {
        statuses.push(answer.status);
        if (answer.status === 429) expect(answer.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
      }),
    );
    await eventually(() => statuses.length >= 34);
    expect(seen.hashes).toHaveLength(2);
    release();
    await Promise.all(flood);
    expect(seen.most).toBe(2);
    expect(statuses.filter((status) => status === 429).length).toBeGreaterThanOrEqual(34);
  });

  it('a good client comes before those who guess, however many they are and whoever came first', async () => {
    const passwordhash = await hashPassword(PASSWORD);
    const user = await app.credential({ passwordhash });
    const guess = (index: number) => from(`203.0.113.${index % 20}`, `guess-${index}`);
    await Promise.all(times(20, guess));
    const { seen, release } = held();
    const flood = times(100, guess);
    await eventually(() => seen.hashes.length === 1);
    const good = from('192.0.2.200', user, PASSWORD);
    await eventually(() => seen.hashes.length === 2);
    expect(seen.hashes[1]).toBe(passwordhash);
    release();
    expect((await good).status).toBe(200);
    await Promise.all(flood);
  });

  it('credentials whose check is still cached are let in all the same, without a comparison', async () => {
    const user = await app.credential({ passwordhash: await hashPassword(PASSWORD) });
    expect((await from('192.0.2.201', user, PASSWORD)).status).toBe(200);
    const { seen, release } = held();
    const flood = times(100, (index) => from(`192.0.2.${index}`, `stranger-${index}`));
    await eventually(() => seen.hashes.length === 2);
    expect((await from('192.0.2.201', user, PASSWORD)).status).toBe(200);
    release();
    await Promise.all(flood);
  });
});

describe('the database is asked for the credentials of', () => {
  let asked: jest.SpyInstance;
  beforeEach(() => {
    const { collection } = service.app.get<Model<unknown>>(getModelToken(CREDENTIAL_MODEL), {
      strict: false,
    });
    asked = jest.spyOn(collection, 'findOne');
  });
  afterEach(() => asked.mockRestore());

  it('nobody at an address that is over its limit, whatever the user names', async () => {
    const allowed = FAILURES * 10 + 1;
    for (let attempt = 0; attempt < allowed; attempt += 1) await from('192.0.2.210', `guess-${attempt}`);
    expect(asked).toHaveBeenCalledTimes(allowed);
    const answers = await Promise.all(times(50, (index) => from('192.0.2.210', `more-${index}`)));
    for (const answer of answers) expectProblem(answer, 429, 'too-many-logins');
    expect(asked).toHaveBeenCalledTimes(allowed);
  });

  it('nobody whose name is longer than a name can be', async () => {
    expectProblem(await from('192.0.2.211', 'x'.repeat(257)), 401, 'unauthorized');
    expect(asked).not.toHaveBeenCalled();
    await from('192.0.2.211', 'x'.repeat(256));
    expect(asked).toHaveBeenCalledTimes(1);
  });
});

it('IPv6 addresses count by their network of /64, IPv4 addresses in every form as one', async () => {
  const attempts = FAILURES * 10 + 1;
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    await from(`2001:db8:1:2::${attempt}`, `guess-${attempt}`);
    await from(attempt % 2 === 0 ? '192.0.2.212' : '::ffff:192.0.2.212', `guess-${attempt}`);
  }
  expect((await from('2001:db8:1:2:ffff::', 'ann')).status).toBe(429);
  expect((await from('2001:db8:1:3::', 'ann')).status).toBe(401);
  expect((await from('192.0.2.212', 'ann')).status).toBe(429);
});
