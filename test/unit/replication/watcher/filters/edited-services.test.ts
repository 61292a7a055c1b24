import { ALL } from '../../../../../src/replication/protocol/index.js';
import { EditedServices } from '../../../../../src/replication/watcher/filters/wanted-services.js';

const key = (appid: string) => ({ organizationid: 'acme', appid, kind: 'product', name: 'web' }) as const;

describe('edited services whose stamping has failed', () => {
  beforeEach(() => jest.useFakeTimers());
  afterEach(() => jest.useRealTimers());

  it('come again after a pause, which grows with each failure in a row, and hold up no other', () => {
    const edited = new EditedServices();
    edited.add(key('shop'));
    const pauses: number[] = [];
    for (let failure = 1; failure <= 7; failure += 1) {
      expect(edited.take(ALL)).toEqual(key('shop'));
      edited.endFailed(key('shop'));
      edited.add(key('other'));
      expect(edited.take(ALL)).toEqual(key('other'));
      edited.end(key('other'));
      expect(edited.take(ALL)).toBeUndefined();
      pauses.push(edited.restMs(60_000));
      jest.advanceTimersByTime(edited.restMs(60_000));
    }
    expect(pauses).toEqual([1000, 2000, 4000, 8000, 16_000, 20_000, 20_000]);
    expect(edited.take(ALL)).toEqual(key('shop'));
    edited.end(key('shop'));
    expect(edited.restMs(60_000)).toBe(60_000);
  });
});

it('edited services of an application that is left out keep their turn, and hold up no other', () => {
  const edited = new EditedServices();
  edited.add(key('shop'));
  edited.add(key('other'));
  const { organizationid, appid } = key('shop');
  const others = { but: [{ organizationid, appid }] };
  expect([edited.take(others), edited.take(others)]).toEqual([key('other'), undefined]);
  expect(edited.take(ALL)).toEqual(key('shop'));
});
