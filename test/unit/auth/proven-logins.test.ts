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

describe('a login is proven by one at a time', () => {
  it('who comes meanwhile waits until that is over, and gets nothing', async () => {
    const proven = new ProvenLogins();
    let proofs = 0;
    const prove = () => Promise.resolve((proofs += 1));
    const all = await Promise.all([1, 2, 3].map(() => proven.alone(ann, prove)));
    expect(all).toEqual([{ proof: 1 }, undefined, undefined]);
    expect(await proven.alone(ann, prove)).toEqual({ proof: 2 });
  });

  it('a proof that fails fails only for who asked for it', async () => {
    const proven = new ProvenLogins();
    const outcomes = [Promise.reject(new Error('no')), Promise.resolve(true)].map((outcome) =>
      proven.alone(ann, () => outcome),
    );
    expect(await Promise.allSettled(outcomes)).toMatchObject([{ status: 'rejected' }, { value: undefined }]);
  });

  it('other logins do not wait', async () => {
    const proven = new ProvenLogins();
    void proven.alone(ann, () => new Promise(() => undefined));
    expect(await proven.alone(login('ben', 'secret'), () => Promise.resolve(1))).toEqual({ proof: 1 });
  });
});
