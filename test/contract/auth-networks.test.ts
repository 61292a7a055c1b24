import type * as Argon2 from '@node-rs/argon2';
import { hashPassword } from '../../src/auth/index.js';
import { expectProblem, PASSWORD, type TestApplication, TestService } from '../support/index.js';

/** `LOGIN_FAILURES` is 1: an address may fail 10 times, and a network of /48 80 times. */
const OF_ADDRESS = 10;
const OF_SITE = 80;

let service: TestService;
let app: TestApplication;
let user: string;
/** One that has not logged in yet: a login that was let in a moment ago is let in whatever fails beside it. */
const newUser = async () => app.credential({ passwordhash: await hashPassword(PASSWORD) });

beforeAll(async () => {
  service = await TestService.start({ LOGIN_FAILURES: '1', TRUST_PROXY: '1' });
  app = await service.application();
  user = await newUser();
});
afterAll(() => service.stop());

const from = (forwarded: string, name: string, password = 'wrong') =>
  app.get('product/max', { user: name, password, headers: { 'x-forwarded-for': forwarded } });

/** What wrong logins are answered, each under a user name of its own and from the next address. */
async function guesses(count: number, addressOf: (attempt: number) => string): Promise<number[]> {
  const statuses: number[] = [];
  for (let attempt = 0; attempt < count; attempt += 1)
    statuses.push((await from(addressOf(attempt), `guess-${attempt}`)).status);
  return statuses;
}

const refusedAfter = (allowed: number) => [...Array.from({ length: allowed }, () => 401), 429];

describe('failed logins that a proxy tells of', () => {
  it('count for the network of /48, however many networks of /64 and ports in it they come from', async () => {
    const network = (attempt: number) => `2001:db8:48:${(attempt * 257).toString(16)}`;
    const addressOf = (attempt: number) =>
      attempt % 2 === 0
        ? `${network(attempt)}::${attempt + 1}`
        : `[${network(attempt)}::1]:${1024 + attempt}`;
    expect(await guesses(OF_SITE + 1, addressOf)).toEqual(refusedAfter(OF_SITE));

    const compared = jest.spyOn(loadedByNode('@node-rs/argon2') as typeof Argon2, 'verify');
    try {
      const answer = await from('2001:db8:48:ffff:ffff:ffff:ffff:ffff', await newUser(), PASSWORD);
      expectProblem(answer, 429, 'too-many-logins');
      expect(answer.headers.get('retry-after')).toMatch(/^([1-9]|[1-5]\d|60)$/);
      expect((await from('2001:0DB8:0048::1', 'other')).status).toBe(429);
      expect(compared).not.toHaveBeenCalled();
    } finally {
      compared.mockRestore();
    }
    for (const outside of ['2001:db8:49::1', '2001:db8:47:ffff::1', '192.0.2.48', '::ffff:192.0.2.48'])
      expect([outside, (await from(outside, user, PASSWORD)).status]).toEqual([outside, 200]);
  });

  it('count for the network of /64 too, and another of the same /48 is let in', async () => {
    const addressOf = (attempt: number) =>
      `[2001:db8:64:1::${(attempt + 1).toString(16)}]:${40_000 + attempt}`;
    expect(await guesses(OF_ADDRESS + 1, addressOf)).toEqual(refusedAfter(OF_ADDRESS));
    expect((await from('2001:db8:64:1:ffff::', await newUser(), PASSWORD)).status).toBe(429);
    expect((await from('2001:db8:64:2::', user, PASSWORD)).status).toBe(200);
  });

  it('count for one caller together where what is told is no address', async () => {
    const told = [
      ...['unknown', '_hidden', '2001:db8::g', '1.2.3', '999.1.1.1', '[2001:db8::1', '[::1]:123456'],
      ...['2001:db8:48', ':::', `2001:db8::1${'0'.repeat(100)}`, 'x'.repeat(5000)],
    ];
    expect(told).toHaveLength(OF_ADDRESS + 1);
    expect(await guesses(told.length, (attempt) => told[attempt]!)).toEqual(refusedAfter(OF_ADDRESS));
    expect((await from('still-no-address', await newUser(), PASSWORD)).status).toBe(429);
    expect((await from('192.0.2.49', user, PASSWORD)).status).toBe(200);
  });

  it('count for what the proxy has added, whatever the caller has sent before it', async () => {
    const addressOf = (attempt: number) => `2001:db8:${attempt}::1, 192.0.2.50:${50_000 + attempt}`;
    expect(await guesses(OF_ADDRESS + 1, addressOf)).toEqual(refusedAfter(OF_ADDRESS));
    expect((await from('192.0.2.51, 192.0.2.50', await newUser(), PASSWORD)).status).toBe(429);
    expect((await from('192.0.2.50, 192.0.2.51', user, PASSWORD)).status).toBe(200);
  });
});
