import argon2 from '@node-rs/argon2';
import { hashAmong, hashPassword, isHashOf } from '../../../src/auth/credential.js';
import { Passwords } from '../../../src/auth/passwords.js';

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
      expect(await passwords.fits(stored, password, 1)).toBe(true);
      expect(await passwords.fits(stored, `${password}x`, 1)).toBe(false);
    },
  );

  it('a hash that cannot be read fits nothing', async () => {
    expect(await new Passwords().fits('$argon2id$broken', 'secret', 1)).toBe(false);
  });

  it('an unknown user name costs a check as well, which fails', async () => {
    expect(await new Passwords().fits(undefined, 'secret', 1)).toBe(false);
  });
});

describe('the hash of a new password', () => {
  const password = 'correct horse battery staple';

  it('is the stored one if that is of the same password', async () => {
    const stored = await hashPassword(password);
    await expect(hashAmong([undefined, await hashPassword('another'), stored], password)).resolves.toBe(
      stored,
    );
  });

  it.each([
    ['less memory', { memoryCost: 4096, timeCost: 2, parallelism: 1 }],
    ['fewer passes', { memoryCost: 19_456, timeCost: 1, parallelism: 1 }],
  ])('replaces one of the same password that was made with %s', async (_name, cost) => {
    const weak = await argon2.hash(password, cost);
    const hash = await hashAmong([weak], password);
    expect(hash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
    await expect(isHashOf(hash, password)).resolves.toBe(true);
  });
});
