import type * as Argon2 from '@node-rs/argon2';
import { hashPassword } from '../../src/auth/index.js';
import { expectProblem, PASSWORD, type TestApplication, TestService } from '../support/index.js';

const FAILURES = 3;

let service: TestService;
let app: TestApplication;
let addresses = 0;

beforeAll(async () => {
  service = await TestService.start({ LOGIN_FAILURES: String(FAILURES), TRUST_PROXY: '1' });
  app = await service.application();
});
afterAll(() => service.stop());

/** An address that has made no request yet, as the proxy in front tells it. */
function caller() {
  addresses += 1;
  const headers = { 'x-forwarded-for': `192.0.2.${addresses}` };
  return {
    as: (user: string, password: string) => app.get('product/max', { user, password, headers }),
    async fails(times: number, user: (attempt: number) => string): Promise<number[]> {
      const statuses: number[] = [];
      for (let attempt = 0; attempt < times; attempt += 1)
        statuses.push((await this.as(user(attempt), 'wrong')).status);
      return statuses;
    },
  };
}

/** With a hash of its own, so that no other test has made the service remember its password. */
const newUser = async () => app.credential({ passwordhash: await hashPassword(PASSWORD) });

const repeated = <T>(times: number, value: T) => Array.from({ length: times }, () => value);

describe('429 with `Retry-After`', () => {
  it('more than `LOGIN_FAILURES` failed logins a minute for one pair of address and user name', async () => {
    const user = await newUser();
    const address = caller();
    expect(await address.fails(FAILURES + 1, () => user)).toEqual([...repeated(FAILURES, 401), 429]);
    const answer = await address.as(user, PASSWORD);
    expectProblem(answer, 429, 'too-many-logins');
    expect(answer.headers.get('retry-after')).toMatch(/^([1-9]|[1-5]\d|60)$/);
    expect(answer.headers.get('www-authenticate')).toBeNull();
  });

  it('the same wrong login many times at once: those that come together share a comparison, and its answer', async () => {
    const user = await newUser();
    const address = caller();
    const all = await Promise.all(repeated(100, user).map((name) => address.as(name, 'wrong')));
    expect(all.filter(({ status }) => status === 401).length).toBeGreaterThan(FAILURES);
    expect(all.filter(({ status }) => status !== 401 && status !== 429)).toEqual([]);
  });

  it('counts an unknown user name as any other', async () => {
    const address = caller();
    expect(await address.fails(FAILURES + 1, () => 'nobody')).toEqual([...repeated(FAILURES, 401), 429]);
  });

  it('the pair is blocked, not the user name and not the address', async () => {
    const [user, other] = [await newUser(), await newUser()];
    const address = caller();
    await address.fails(FAILURES + 1, () => user);
    expect((await address.as(other, PASSWORD)).status).toBe(200);
    expect((await caller().as(user, PASSWORD)).status).toBe(200);
  });

  it('parallel guesses do not overtake the count: no more passwords are compared', async () => {
    const user = await newUser();
    const address = caller();
    const compared = jest.spyOn(loadedByNode('@node-rs/argon2') as typeof Argon2, 'verify');
    const guesses = Array.from({ length: 100 }, (_, index) => address.as(user, `wrong-${index}`));
    const statuses = (await Promise.all(guesses)).map(({ status }) => status);
    expect(compared).toHaveBeenCalledTimes(2 * (FAILURES + 1));
    compared.mockRestore();
    expect(statuses.sort()).toEqual([...repeated(FAILURES, 401), ...repeated(100 - FAILURES, 429)]);
    expect((await address.as(user, PASSWORD)).status).toBe(429);
  });

  it('parallel right logins count for nothing', async () => {
    const user = await newUser();
    const address = caller();
    const answers = await Promise.all(repeated(30, PASSWORD).map((password) => address.as(user, password)));
    expect(answers.map(({ status }) => status)).toEqual(repeated(30, 200));
    expect(await address.fails(FAILURES + 1, () => user)).toEqual([...repeated(FAILURES, 401), 429]);
  });

  it('nor where all of them wait for the same look at their credential, behind a login that is wrong', async () => {
    const user = await newUser();
    const address = caller();
    const passwords = ['wrong', ...repeated(30, PASSWORD)];
    const answers = await Promise.all(passwords.map((password) => address.as(user, password)));
    expect(answers.map(({ status }) => status)).toEqual([401, ...repeated(30, 200)]);
  });

  it('or 10 times that for one address, whatever the user names', async () => {
    const user = await newUser();
    const address = caller();
    const attempts = FAILURES * 10 + 1;
    const statuses = await address.fails(attempts, (attempt) => `guess-${attempt}`);
    expect(statuses).toEqual([...repeated(attempts - 1, 401), 429]);
    const answer = await address.as(user, PASSWORD);
    expectProblem(answer, 429, 'too-many-logins');
    expect(answer.headers.get('retry-after')).toMatch(/^([1-9]|[1-5]\d|60)$/);
    expect((await caller().as(user, PASSWORD)).status).toBe(200);
  });

  it('right logins count for nothing, and requests without credentials neither', async () => {
    const user = await newUser();
    const address = caller();
    await address.fails(FAILURES, () => user);
    for (const right of repeated(FAILURES + 1, PASSWORD)) {
      expect((await address.as(user, right)).status).toBe(200);
      expect((await app.get('product/max', { user: null })).status).toBe(401);
    }
  });

  it.each<[string, (attempt: number) => string]>([
    ['the port behind an IPv4 address', (attempt) => `203.0.113.77:${1000 + attempt}`],
    ['the port behind an IPv6 address', (attempt) => `[2001:db8:7::77]:${1000 + attempt}`],
    ['what is no address', (attempt) => `nobody-${attempt}`],
  ])('a caller is not another one by %s', async (_name, addressOf) => {
    const user = await newUser();
    const statuses: number[] = [];
    for (let attempt = 0; attempt < FAILURES + 1; attempt += 1) {
      const headers = { 'x-forwarded-for': addressOf(attempt) };
      statuses.push((await app.get('product/max', { user, password: 'wrong', headers })).status);
    }
    expect(statuses).toEqual([...repeated(FAILURES, 401), 429]);
  });

  it('a login that is refused costs as many comparisons whatever there is of its user name', async () => {
    const [plain, rotated] = [await newUser(), await newUser()];
    await service.db
      .collection('credentials')
      .updateOne(
        { username: rotated },
        { $set: { oldpasswordhash: await hashPassword('old'), oldexpiresAt: new Date('2999-01-01') } },
      );
    const compared = jest.spyOn(loadedByNode('@node-rs/argon2') as typeof Argon2, 'verify');
    try {
      for (const user of [plain, rotated, 'who-is-unknown']) {
        compared.mockClear();
        expect((await caller().as(user, 'wrong')).status).toBe(401);
        expect([user, compared.mock.calls.length]).toEqual([user, 2]);
      }
    } finally {
      compared.mockRestore();
    }
  });

  it('credentials whose check is still cached are let in all the same', async () => {
    const user = await newUser();
    const address = caller();
    expect((await address.as(user, PASSWORD)).status).toBe(200);
    expect(await address.fails(FAILURES + 1, () => user)).toContain(429);
    expect((await address.as(user, PASSWORD)).status).toBe(200);
    expect((await address.as(user, 'wrong')).status).toBe(429);
  });
});

describe('optional quota per credential', () => {
  let limited: TestService;
  let place: TestApplication;

  beforeAll(async () => {
    limited = await service.another({ CREDENTIAL_QUOTA: '2' });
    place = await limited.application();
  });
  afterAll(() => limited.leave());

  it('429 with `Retry-After` for requests beyond `CREDENTIAL_QUOTA` in a minute, for that credential alone', async () => {
    const max = (user: string) => place.get('product/max', { user });
    const user = place.user('read');
    expect([(await max(user)).status, (await max(user)).status]).toEqual([200, 200]);
    const answer = await max(user);
    expectProblem(answer, 429, 'quota-used-up');
    expect(answer.headers.get('retry-after')).toMatch(/^([1-9]|[1-5]\d|60)$/);
    expect((await max(place.user('admin'))).status).toBe(200);
    expect((await app.get('product/max')).status).toBe(200);
  });

  it('no quota unless it is set', async () => {
    const answers = await Promise.all(repeated(10, 'product/max').map((path) => app.get(path)));
    expect(answers.map(({ status }) => status)).toEqual(repeated(10, 200));
  });
});
