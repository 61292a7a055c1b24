import { LoginLimiter } from '../../../src/auth/login-limiter.js';
import { Problem } from '../../../src/common/index.js';
import { readSettings } from '../../../src/config/index.js';

const MINUTE = 60_000;

beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

const limiter = (environment: Record<string, string>) => new LoginLimiter(readSettings(environment));

/** The `Retry-After` of the 429 that a call ends with; nothing where it ends well. */
async function retryAfter(call: Promise<void>): Promise<number | undefined> {
  try {
    await call;
    return undefined;
  } catch (error) {
    if (!(error instanceof Problem) || error.status !== 429) throw error;
    return Number(error.extras.headers?.['Retry-After']);
  }
}

/** What a wrong login ends with, where its password is compared at all. */
const fail = (logins: LoginLimiter, address: string, username: string) =>
  retryAfter(logins.attempt(address, username).then((attempt) => attempt.failed()));

/** What a right one ends with. */
const succeed = (logins: LoginLimiter, address: string, username: string) =>
  retryAfter(logins.attempt(address, username).then((attempt) => attempt.succeeded()));

describe('more than `LOGIN_FAILURES` failed logins a minute for one pair of address and user name', () => {
  it('blocks the pair until the minute is over, and tells how long', async () => {
    const logins = limiter({ LOGIN_FAILURES: '2' });
    expect(await fail(logins, 'a', 'ann')).toBeUndefined();
    expect(await fail(logins, 'a', 'ann')).toBeUndefined();
    expect(await succeed(logins, 'a', 'ann')).toBeUndefined();
    expect(await fail(logins, 'a', 'ann')).toBe(60);

    jest.advanceTimersByTime(MINUTE - 5000);
    expect(await succeed(logins, 'a', 'ann')).toBe(5);
    expect(await succeed(logins, 'a', 'ben')).toBeUndefined();
    expect(await succeed(logins, 'b', 'ann')).toBeUndefined();
    jest.advanceTimersByTime(5000);
    expect(await succeed(logins, 'a', 'ann')).toBeUndefined();
    expect(await fail(logins, 'a', 'ann')).toBeUndefined();
  });

  it('is 20 by default', async () => {
    const logins = limiter({});
    for (let failures = 0; failures < 20; failures += 1)
      expect(await fail(logins, 'a', 'ann')).toBeUndefined();
    expect(await fail(logins, 'a', 'ann')).toBe(60);
  });

  it('does not mix pairs whose texts put together are the same', async () => {
    const logins = limiter({ LOGIN_FAILURES: '1' });
    await fail(logins, '::1', '2 ann');
    expect(await fail(logins, '::12', 'ann')).toBeUndefined();
  });
});

it('or 10 times that for one address', async () => {
  const logins = limiter({ LOGIN_FAILURES: '2' });
  for (let failures = 0; failures < 20; failures += 1)
    expect(await fail(logins, 'a', `guess-${failures}`)).toBeUndefined();
  expect(await fail(logins, 'a', 'ann')).toBe(60);
  expect(await succeed(logins, 'a', 'ben')).toBe(60);
  expect(await succeed(logins, 'b', 'ben')).toBeUndefined();
});

describe('parallel logins of one pair', () => {
  const many = Array.from({ length: 100 }, (_, index) => index);

  it('are compared no more often than they may fail, and once more', async () => {
    const logins = limiter({});
    const begun = await Promise.allSettled(many.map(() => logins.attempt('a', 'ann')));
    expect(begun.map(({ status }) => status)).toEqual(
      many.map((index) => (index <= 20 ? 'fulfilled' : 'rejected')),
    );
    expect(await succeed(logins, 'a', 'ann')).toBe(60);
  });

  it('those that were refused or right leave nothing behind', async () => {
    const logins = limiter({});
    const begun = await Promise.allSettled(many.map(() => logins.attempt('a', 'ann')));
    for (const one of begun) if (one.status === 'fulfilled') await one.value.succeeded();
    for (let failures = 0; failures < 20; failures += 1)
      expect(await fail(logins, 'a', 'ann')).toBeUndefined();
    expect(await fail(logins, 'a', 'ann')).toBe(60);
  });
});

describe('optional quota per credential', () => {
  it('is a number of requests a minute', async () => {
    const requests = limiter({ CREDENTIAL_QUOTA: '2' });
    expect(await retryAfter(requests.countRequest('ann'))).toBeUndefined();
    expect(await retryAfter(requests.countRequest('ann'))).toBeUndefined();
    expect(await retryAfter(requests.countRequest('ann'))).toBe(60);
    expect(await retryAfter(requests.countRequest('ben'))).toBeUndefined();
    jest.advanceTimersByTime(MINUTE);
    expect(await retryAfter(requests.countRequest('ann'))).toBeUndefined();
  });

  it('without it nothing is counted', async () => {
    const requests = limiter({});
    for (let count = 0; count < 100; count += 1)
      expect(await retryAfter(requests.countRequest('ann'))).toBeUndefined();
  });
});
