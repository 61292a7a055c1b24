import { ProvenLogins } from '../../../src/auth/passwords.js';

const HASH = '$argon2id$one';
const login = (username: string, password: string) => ({ username, password });
/** No name of a login, which is base64, can have an @ or a blank by chance. */
const ann = login('ann@', 'my secret');

describe('what is remembered', () => {
  it('a success, of this very user name and password, with the hash that it fitted', () => {
    const proven = new ProvenLogins();
    const hashOf = (one: typeof ann) => proven.hashOf(proven.nameOf(one));
    expect(hashOf(ann)).toBeUndefined();
    proven.remember(proven.nameOf(ann), HASH);
    expect(hashOf(ann)).toBe(HASH);
    for (const other of [login('ann@', 'my secret '), login('ben', 'my secret')])
      expect(hashOf(other)).toBeUndefined();
  });

  it('for a minute', () => {
    jest.useFakeTimers({ doNotFake: ['performance'] });
    const clock = jest.spyOn(performance, 'now');
    try {
      const proven = new ProvenLogins();
      const rememberedAt = (time: number) => {
        clock.mockReturnValue(time);
        jest.advanceTimersByTime(1);
        return proven.hashOf(proven.nameOf(ann)) === HASH;
      };
      rememberedAt(1000);
      proven.remember(proven.nameOf(ann), HASH);
      expect([rememberedAt(2000), rememberedAt(61_000), rememberedAt(61_001)]).toEqual([true, true, false]);
    } finally {
      clock.mockRestore();
      jest.useRealTimers();
    }
  });
});

it('a login has a name of its own in each instance, which tells neither user name nor password', () => {
  const proven = new ProvenLogins();
  const others = [login('ann', '@my secret'), login('4:ann@', 'my secret'), login('ann@', 'other')];
  const names = [ann, ...others].map((one) => proven.nameOf(one));
  expect(new Set([...names, new ProvenLogins().nameOf(ann)]).size).toBe(5);
  expect(proven.nameOf(login('ann@', 'my secret'))).toBe(names[0]);
  for (const name of names) expect(name).not.toMatch(/ann@|my secret/);
});
