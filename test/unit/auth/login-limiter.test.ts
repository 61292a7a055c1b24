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

describe('more than `LOGIN_FAILURES` failed logins a minute for one pair of address and user name', () => {
  it('blocks the pair until the minute is over, and tells how long', async () => {
    const logins = limiter({ LOGIN_FAILURES: '2' });
    expect(await retryAfter(logins.countFailure('a', 'ann'))).toBeUndefined();
    expect(await retryAfter(logins.countFailure('a', 'ann'))).toBeUndefined();
    expect(await retryAfter(logins.assertMayTry('a', 'ann'))).toBeUndefined();
    expect(await retryAfter(logins.countFailure('a', 'ann'))).toBe(60);

    jest.advanceTimersByTime(MINUTE - 5000);
    expect(await retryAfter(logins.assertMayTry('a', 'ann'))).toBe(5);
    expect(await retryAfter(logins.assertMayTry('a', 'ben'))).toBeUndefined();
    expect(await retryAfter(logins.assertMayTry('b', 'ann'))).toBeUndefined();
    jest.advanceTimersByTime(5000);
    expect(await retryAfter(logins.assertMayTry('a', 'ann'))).toBeUndefined();
    expect(await retryAfter(logins.countFailure('a', 'ann'))).toBeUndefined();
  });

  it('is 20 by default', async () => {
    const logins = limiter({});
    for (let failures = 0; failures < 20; failures += 1)
      expect(await retryAfter(logins.countFailure('a', 'ann'))).toBeUndefined();
    expect(await retryAfter(logins.countFailure('a', 'ann'))).toBe(60);
  });

  it('does not mix pairs whose texts put together are the same', async () => {
    const logins = limiter({ LOGIN_FAILURES: '1' });
    await logins.countFailure('::1', '2 ann');
    expect(await retryAfter(logins.countFailure('::12', 'ann'))).toBeUndefined();
  });
});

it('or 10 times that for one address', async () => {
  const logins = limiter({ LOGIN_FAILURES: '2' });
  for (let failures = 0; failures < 20; failures += 1)
    expect(await retryAfter(logins.countFailure('a', `guess-${failures}`))).toBeUndefined();
  expect(await retryAfter(logins.countFailure('a', 'ann'))).toBe(60);
  expect(await retryAfter(logins.assertMayTry('a', 'ben'))).toBe(60);
  expect(await retryAfter(logins.assertMayTry('b', 'ben'))).toBeUndefined();
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
