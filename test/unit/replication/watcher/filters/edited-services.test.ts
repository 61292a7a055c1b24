import { EditedServices } from '../../../../../src/replication/watcher/filters/edited-services.js';

const key = (appid: string) => ({ organizationid: 'acme', appid, kind: 'product', name: 'web' }) as const;

describe('edited services whose stamping has failed', () => {
  beforeEach(() => jest.useFakeTimers());
  afterEach(() => jest.useRealTimers());

  it('come again after a pause, which grows with each failure in a row, and hold up no other', () => {
    const edited = new EditedServices();
    edited.add(key('shop'));
    const pauses: number[] = [];
    for (let failure = 1; failure <= 7; failure += 1) {
      expect(edited.take()).toEqual(key('shop'));
      edited.endFailed(key('shop'));
      edited.add(key('other'));
      expect(edited.take()).toEqual(key('other'));
      edited.end(key('other'));
      expect(edited.take()).toBeUndefined();
      pauses.push(edited.restMs(60_000));
      jest.advanceTimersByTime(edited.restMs(60_000));
    }
    expect(pauses).toEqual([1000, 2000, 4000, 8000, 16_000, 20_000, 20_000]);
    expect(edited.take()).toEqual(key('shop'));
    edited.end(key('shop'));
    expect(edited.restMs(60_000)).toBe(60_000);
  });
});
