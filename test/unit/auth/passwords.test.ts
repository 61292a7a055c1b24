import { hashPassword, Passwords } from '../../../src/auth/passwords.js';

describe('argon2id, PHC string', () => {
  it('has a salt of its own each time', async () => {
    const [one, other] = await Promise.all([hashPassword('secret'), hashPassword('secret')]);
    expect(one).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
    expect(one).not.toBe(other);
  });

  it.each(['', 'secret', 'pässwörd-密码-🔑', 'a'.repeat(5000), 'nul\0inside'])(
    'fits its password alone: %j',
    async (password) => {
      const passwords = new Passwords();
      const stored = await hashPassword(password);
      expect(await passwords.fits(stored, password)).toBe(true);
      expect(await passwords.fits(stored, `${password}x`)).toBe(false);
    },
  );

  it('a hash that cannot be read fits nothing', async () => {
    expect(await new Passwords().fits('$argon2id$broken', 'secret')).toBe(false);
  });

  it('an unknown user name costs a check as well, which fails', async () => {
    expect(await new Passwords().refuse('secret')).toBe(false);
  });
});

describe('what is remembered', () => {
  it('a success, under this very hash and password', async () => {
    const passwords = new Passwords();
    const [stored, other] = await Promise.all([hashPassword('secret'), hashPassword('secret')]);
    expect(passwords.isRemembered(stored, 'secret')).toBe(false);
    await passwords.fits(stored, 'secret');
    expect(passwords.isRemembered(stored, 'secret')).toBe(true);
    expect(passwords.isRemembered(stored, 'secret ')).toBe(false);
    expect(passwords.isRemembered(other, 'secret')).toBe(false);
    expect(new Passwords().isRemembered(stored, 'secret')).toBe(false);
  });

  it('one comparison serves all who ask the same at once; who was refused compares for himself', async () => {
    const passwords = new Passwords();
    const stored = await hashPassword('secret');
    let compared = 0;
    const proven = (password: string) =>
      passwords.proven(stored, password, () => {
        compared += 1;
        return passwords.fits(stored, password);
      });
    expect(await Promise.all(Array.from({ length: 9 }, () => proven('secret')))).toEqual(Array(9).fill(true));
    expect([compared, await proven('secret'), compared]).toEqual([1, true, 1]);
    expect(await Promise.all(Array.from({ length: 3 }, () => proven('wrong')))).toEqual(Array(3).fill(false));
    expect(compared).toBe(4);
  });

  it('a comparison that fails fails only for who asked for it', async () => {
    const passwords = new Passwords();
    const asked = [Promise.reject(new Error('no')), Promise.resolve(true)];
    const outcomes = asked.map((outcome) => passwords.proven('stored', 'secret', () => outcome));
    expect(await Promise.allSettled(outcomes)).toMatchObject([{ status: 'rejected' }, { value: true }]);
  });

  it('never a failure', async () => {
    const passwords = new Passwords();
    const stored = await hashPassword('secret');
    await passwords.fits(stored, 'wrong');
    await passwords.refuse('wrong');
    expect(passwords.isRemembered(stored, 'wrong')).toBe(false);
  });

  it('no two pairs of hash and password are the same', async () => {
    const passwords = new Passwords();
    const stored = await hashPassword('secret');
    await passwords.fits(stored, 'secret');
    expect(passwords.isRemembered(`${stored}s`, 'ecret')).toBe(false);
    expect(passwords.isRemembered(stored.slice(0, -1), `${stored.slice(-1)}secret`)).toBe(false);
  });

  it('for a minute', async () => {
    const stored = await hashPassword('secret');
    jest.useFakeTimers({ doNotFake: ['performance'] });
    const clock = jest.spyOn(performance, 'now');
    try {
      const passwords = new Passwords();
      const rememberedAt = (time: number) => {
        clock.mockReturnValue(time);
        jest.advanceTimersByTime(1);
        return passwords.isRemembered(stored, 'secret');
      };
      rememberedAt(1000);
      await passwords.fits(stored, 'secret');
      expect([rememberedAt(2000), rememberedAt(61_000), rememberedAt(61_001)]).toEqual([true, true, false]);
    } finally {
      clock.mockRestore();
      jest.useRealTimers();
    }
  });
});
