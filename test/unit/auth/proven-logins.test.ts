import { ProvenLogins } from '../../../src/auth/proven-logins.js';

const HASH = '$argon2id$one';
const login = (username: string, password: string) => ({ username, password });
const ann = login('ann', 'secret');

describe('what is remembered', () => {
  it('a success, of this very user name and password, with the hash that it fitted', () => {
    const proven = new ProvenLogins();
    expect([proven.has(ann), proven.hasFitted(ann, HASH)]).toEqual([false, false]);
    proven.remember(ann, HASH);
    expect([proven.has(ann), proven.hasFitted(ann, HASH)]).toEqual([true, true]);
    expect(proven.hasFitted(ann, '$argon2id$other')).toBe(false);
    expect(proven.has(login('ann', 'secret '))).toBe(false);
    expect(proven.has(login('ben', 'secret'))).toBe(false);
    expect(new ProvenLogins().has(ann)).toBe(false);
  });

  it('no two logins are the same', () => {
    const proven = new ProvenLogins();
    proven.remember(ann, HASH);
    expect(proven.has(login('an', 'nsecret'))).toBe(false);
    expect(proven.has(login('3:ann', 'secret'))).toBe(false);
  });

  it('for a minute', () => {
    jest.useFakeTimers({ doNotFake: ['performance'] });
    const clock = jest.spyOn(performance, 'now');
    try {
      const proven = new ProvenLogins();
      const rememberedAt = (time: number) => {
        clock.mockReturnValue(time);
        jest.advanceTimersByTime(1);
        return proven.has(ann);
      };
      rememberedAt(1000);
      proven.remember(ann, HASH);
      expect([rememberedAt(2000), rememberedAt(61_000), rememberedAt(61_001)]).toEqual([true, true, false]);
    } finally {
      clock.mockRestore();
      jest.useRealTimers();
    }
  });
});

it('a login has a name for each address, which tells neither', () => {
  const proven = new ProvenLogins();
  const names = [
    proven.nameOf(ann, '::1'),
    proven.nameOf(ann, '::2'),
    proven.nameOf(login('ann', 'other'), '::1'),
  ];
  expect(new Set(names).size).toBe(3);
  expect(proven.nameOf(ann, '::1')).toBe(names[0]);
  expect(names[0]).not.toContain('secret');
});
