import { type Attempt, LoginLimiter } from '../../../src/auth/login-limiter.js';
import { readSettings } from '../../../src/platform/config/index.js';
import { Problem } from '../../../src/platform/http/index.js';

const MINUTE = 60_000;

beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

const limiter = (environment: Record<string, string>) => new LoginLimiter(readSettings(environment));

/** The `Retry-After` of the 429 that a call ends with; nothing where it ends well. */
function retryAfter(call: () => void): number | undefined {
  try {
    call();
    return undefined;
  } catch (error) {
    if (!(error instanceof Problem) || error.status !== 429) throw error;
    return Number(error.extras.headers?.['Retry-After']);
  }
}

/** What a wrong login ends with, where its password is compared at all. */
const fail = (logins: LoginLimiter, address: string, username: string) =>
  retryAfter(() => logins.attempt(address, username).failed());

/** What a right one ends with. */
const succeed = (logins: LoginLimiter, address: string, username: string) =>
  retryAfter(() => logins.attempt(address, username).withdraw());

describe('more than `LOGIN_FAILURES` failed logins a minute for one pair of address and user name', () => {
  it('blocks the pair until the minute is over, and tells how long', () => {
    const logins = limiter({ LOGIN_FAILURES: '2' });
    expect(fail(logins, '192.0.2.1', 'ann')).toBeUndefined();
    expect(fail(logins, '192.0.2.1', 'ann')).toBeUndefined();
    expect(succeed(logins, '192.0.2.1', 'ann')).toBeUndefined();
    expect(fail(logins, '192.0.2.1', 'ann')).toBe(60);

    jest.advanceTimersByTime(MINUTE - 5000);
    expect(succeed(logins, '192.0.2.1', 'ann')).toBe(5);
    expect(succeed(logins, '192.0.2.1', 'ben')).toBeUndefined();
    expect(succeed(logins, '192.0.2.2', 'ann')).toBeUndefined();
    jest.advanceTimersByTime(5000);
    expect(succeed(logins, '192.0.2.1', 'ann')).toBeUndefined();
    expect(fail(logins, '192.0.2.1', 'ann')).toBeUndefined();
  });

  it('is 20 by default', () => {
    const logins = limiter({});
    for (let failures = 0; failures < 20; failures += 1)
      expect(fail(logins, '192.0.2.1', 'ann')).toBeUndefined();
    expect(fail(logins, '192.0.2.1', 'ann')).toBe(60);
  });

  it('does not mix pairs whose texts put together are the same', () => {
    const logins = limiter({ LOGIN_FAILURES: '1' });
    fail(logins, '::1', '2 ann');
    expect(fail(logins, '::12', 'ann')).toBeUndefined();
  });
});

it('or 10 times that for one address', () => {
  const logins = limiter({ LOGIN_FAILURES: '2' });
  for (let failures = 0; failures < 20; failures += 1)
    expect(fail(logins, '192.0.2.1', `guess-${failures}`)).toBeUndefined();
  expect(fail(logins, '192.0.2.1', 'ann')).toBe(60);
  expect(succeed(logins, '192.0.2.1', 'ben')).toBe(60);
  expect(succeed(logins, '192.0.2.2', 'ben')).toBeUndefined();
});

describe('an IPv6 network of /48, whose owner has 65,536 of /64', () => {
  const within = (number: number, network = '2001:db8:1') => `${network}:${number.toString(16)}::1`;

  it('fails 8 times as often as one of these, whatever user names and addresses it has', () => {
    const logins = limiter({ LOGIN_FAILURES: '2' });
    for (let failures = 0; failures < 160; failures += 1)
      expect(fail(logins, within(failures), `guess-${failures}`)).toBeUndefined();
    expect(fail(logins, within(1000), 'ann')).toBe(60);
    expect(succeed(logins, within(2000), 'ben')).toBe(60);
    expect(succeed(logins, within(1, '2001:db8:2'), 'ann')).toBeUndefined();
    expect(succeed(logins, '192.0.2.1', 'ann')).toBeUndefined();
    jest.advanceTimersByTime(MINUTE);
    expect(succeed(logins, within(2000), 'ben')).toBeUndefined();
  });

  it('leaves no more behind where it is over that', () => {
    const logins = limiter({ LOGIN_FAILURES: '1' });
    for (let failures = 0; failures < 5000; failures += 1)
      fail(logins, within(failures), `guess-${failures}`);
    expect(logins.remembered).toBe(1 + 81 + 81);
  });
});

describe('parallel logins of one pair', () => {
  const many = Array.from({ length: 100 }, (_, index) => index);
  /** Those that are compared. */
  const begin = (logins: LoginLimiter): Attempt[] =>
    many.flatMap(() => {
      let attempt: Attempt | undefined;
      retryAfter(() => (attempt = logins.attempt('192.0.2.1', 'ann')));
      return attempt ?? [];
    });

  it('are compared no more often than they may fail, and once more', () => {
    const logins = limiter({});
    expect(begin(logins)).toHaveLength(21);
    expect(succeed(logins, '192.0.2.1', 'ann')).toBe(60);
  });

  it('those that were refused or right leave nothing behind', () => {
    const logins = limiter({});
    for (const attempt of begin(logins)) attempt.withdraw();
    for (let failures = 0; failures < 20; failures += 1)
      expect(fail(logins, '192.0.2.1', 'ann')).toBeUndefined();
    expect(fail(logins, '192.0.2.1', 'ann')).toBe(60);
  });

  it('tell how many of the address failed or run: who guesses is told from who does not', () => {
    const logins = limiter({});
    expect(begin(logins).map(({ rank }) => rank)).toEqual(many.slice(0, 21).map((index) => index + 1));
    expect(logins.attempt('192.0.2.2', 'ann').rank).toBe(1);
  });
});

describe('an address that is over its limit', () => {
  it('is looked at before the user name, and leaves nothing more behind', () => {
    const logins = limiter({ LOGIN_FAILURES: '1' });
    for (let failures = 0; failures < 1000; failures += 1) fail(logins, '192.0.2.1', `guess-${failures}`);
    expect(logins.remembered).toBe(1 + 11);
  });

  it.each([
    ['an IPv6 network of /64', '2001:db8::1', '2001:db8::ffff'],
    ['an IPv4 address in the form of an IPv6 one', '192.0.2.1', '::ffff:192.0.2.1'],
  ])('%s is one', (_what, one, same) => {
    const logins = limiter({ LOGIN_FAILURES: '1' });
    for (let failures = 0; failures < 11; failures += 1) fail(logins, one, `guess-${failures}`);
    expect(succeed(logins, same, 'ann')).toBe(60);
  });
});

describe('optional quota per credential', () => {
  it('is a number of requests a minute', () => {
    const requests = limiter({ CREDENTIAL_QUOTA: '2' });
    expect(retryAfter(() => requests.countRequest('ann'))).toBeUndefined();
    expect(retryAfter(() => requests.countRequest('ann'))).toBeUndefined();
    expect(retryAfter(() => requests.countRequest('ann'))).toBe(60);
    expect(retryAfter(() => requests.countRequest('ben'))).toBeUndefined();
    jest.advanceTimersByTime(MINUTE);
    expect(retryAfter(() => requests.countRequest('ann'))).toBeUndefined();
  });

  it('without it nothing is counted', () => {
    const requests = limiter({});
    for (let count = 0; count < 100; count += 1)
      expect(retryAfter(() => requests.countRequest('ann'))).toBeUndefined();
  });
});
