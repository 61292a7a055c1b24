import { hashPassword } from '../../../src/auth/credential.js';
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
