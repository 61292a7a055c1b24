import { FairShare } from '../../../../src/replication/filters/fair-share.js';

const SECOND = 1000;

describe('the time that an application has for its services', () => {
  it('is 2 s at once, and no other application waits for it', () => {
    const share = new FairShare();
    for (let second = 0; second < 2; second += 1) {
      expect(share.mayTake('busy', 0, 0)).toBe(true);
      share.use('busy', SECOND, 0);
    }
    expect(share.mayTake('busy', 0, 0)).toBe(false);
    expect(share.mayTake('another', 19, 0)).toBe(true);
  });

  it('is for as many services at once as it lasts for, by what one took lately', () => {
    const share = new FairShare();
    share.use('busy', 0.6 * SECOND, 0);
    expect([2, 3].map((taken) => share.mayTake('busy', taken, 0))).toEqual([true, false]);
    for (let light = 0; light < 10; light += 1) share.use('busy', 1, 0);
    expect(share.mayTake('busy', 19, 0)).toBe(true);
  });

  it('is a tenth of all time behind that, however long it goes on', () => {
    const share = new FairShare();
    let [now, used] = [0, 0];
    for (; now < 1000 * SECOND; now += 100)
      if (share.mayTake('busy', 0, now)) {
        share.use('busy', 200, now);
        used += 200;
      }
    expect(used / now).toBeGreaterThan(0.09);
    expect(used / now).toBeLessThan(0.11);
  });

  it('comes back within 30 s, whatever was used', () => {
    const share = new FairShare();
    share.use('busy', 3600 * SECOND, 0);
    expect(share.mayTake('busy', 0, 29.9 * SECOND)).toBe(false);
    expect(share.mayTake('busy', 0, 30.1 * SECOND)).toBe(true);
  });

  it('is forgotten once it is all there again', () => {
    const share = new FairShare();
    for (let number = 0; number < 100; number += 1) share.use(String(number), 10 * SECOND, number);
    const { accounts } = share as unknown as { accounts: Map<string, unknown> };
    expect(accounts.size).toBe(100);
    share.use('later', SECOND, 61 * SECOND);
    expect([...accounts.keys()]).toEqual(['later']);
  });
});
