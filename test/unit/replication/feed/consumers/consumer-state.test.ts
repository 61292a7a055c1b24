import type { StoredConsumer } from '../../../../../src/replication/feed/consumers/gathered.js';
import {
  behindMs,
  consumerState,
  type Surroundings,
} from '../../../../../src/replication/feed/consumers/consumer-state.js';

const at = (second: number) => new Date(1_800_000_000_000 + second * 1000);
const NOW = 1000;

/** A consumer that harvests every ten seconds and has read up to second 900. */
function consumer(fields: Partial<StoredConsumer> = {}): StoredConsumer {
  return {
    _id: { organizationid: 'o', appid: 'a', username: 'u', kind: 'product', service: 'default' },
    ...{
      firstCall: at(0),
      lastCall: at(NOW - 5),
      calls: 100,
      pages: 100,
      items: 5,
      errors: 0,
      harvests: 100,
    },
    begun: { at: at(NOW - 5), from: at(890), to: at(900), times: 1 },
    ended: { at: at(NOW - 5), from: at(890), to: at(900) },
    ...fields,
  };
}

const state = (fields: Partial<StoredConsumer>, around: Partial<Surroundings> = {}) =>
  consumerState(consumer(fields), { now: at(NOW), greatest: at(900), ofKind: undefined, ...around });

describe('How a consumer does', () => {
  it('current: it has read up to the newest change, or there is none', () => {
    expect(state({})).toBe('current');
    expect(state({}, { greatest: undefined })).toBe('current');
    expect(state({ lastCall: at(0) })).toBe('current');
  });

  it('current: it asks from X to X again and again, since there is nothing new', () => {
    expect(state({ begun: { at: at(NOW), from: at(900), to: at(900), times: 500 } })).toBe('current');
  });

  it('behind: it calls, and there is more', () => {
    expect(state({}, { greatest: at(950) })).toBe('behind');
    const { ended: _ended, ...first } = consumer();
    const around = { now: at(NOW), greatest: at(900), ofKind: undefined };
    expect(consumerState({ ...first, harvests: 1 }, around)).toBe('behind');
  });

  it('stalled: it has not called for five times as long as usual, and there is more', () => {
    expect(state({ firstCall: at(0), lastCall: at(940), harvests: 95 }, { greatest: at(950) })).toBe(
      'stalled',
    );
    expect(state({ firstCall: at(0), lastCall: at(960), harvests: 97 }, { greatest: at(950) })).toBe(
      'behind',
    );
    expect(state({ firstCall: at(0), lastCall: at(900), harvests: 10 }, { greatest: at(950) })).toBe(
      'behind',
    );
  });

  it('looping: the same window five times in a row, whether or not it ends', () => {
    const begun = { at: at(NOW), from: at(890), to: at(900), times: 5 };
    expect(state({ begun })).toBe('looping');
    expect(state({ begun: { ...begun, times: 4 } })).toBe('current');
    expect(state({ begun: { at: at(NOW), to: at(900), times: 5 } })).toBe('looping');
  });

  it('never finished: it has begun several times or is silent, and no window ever ended', () => {
    const { ended: _ended, ...unfinished } = consumer({ harvests: 3 });
    const around = { now: at(NOW), greatest: at(900), ofKind: undefined };
    expect(consumerState(unfinished, around)).toBe('never finished');
    expect(consumerState({ ...unfinished, harvests: 1, lastCall: at(900) }, around)).toBe('never finished');
  });

  it('must start over: until it has begun without from, or hard deletes were told again', () => {
    const ofKind = { expired: at(NOW - 3) };
    expect(state({}, { ofKind })).toBe('must start over');
    expect(state({ begun: { at: at(NOW - 1), to: at(900), times: 1 } }, { ofKind })).toBe('current');
    expect(state({}, { ofKind: { ...ofKind, told: at(NOW - 1) } })).toBe('current');
  });

  it('must start over: its own answer, until it has begun without from, or was told again', () => {
    expect(state({ expired: at(NOW - 3) })).toBe('must start over');
    expect(state({ expired: at(NOW - 3), told: at(NOW - 1) })).toBe('current');
    const begun = { at: at(NOW - 1), to: at(900), times: 1 };
    expect(state({ expired: at(NOW - 3), begun })).toBe('current');
  });

  it('must start over: the source was restored, and it has not begun without from since', () => {
    const restored = at(NOW - 3);
    const told = at(NOW - 1);
    for (const around of [{}, { ofKind: { restored, told } }]) {
      const fields = 'ofKind' in around ? {} : { restored, told };
      expect(state(fields, around)).toBe('must start over');
      expect(state({ ...fields, anew: at(NOW - 4) }, around)).toBe('must start over');
      expect(state({ ...fields, anew: at(NOW - 2) }, around)).toBe('current');
    }
  });

  it('must start over: it goes on from beyond its end, and from beyond every change', () => {
    const begun = { at: at(NOW), from: at(950), to: at(900), times: 1 };
    expect(state({ begun })).toBe('must start over');
    expect(state({ begun }, { greatest: at(950) })).toBe('behind');
    expect(state({ begun }, { greatest: undefined })).toBe('current');
  });

  it('is behind by the time between what it has read and the newest change', () => {
    expect(behindMs(consumer(), at(960))).toBe(60_000);
    expect(behindMs(consumer(), at(800))).toBe(0);
    expect(behindMs(consumer(), undefined)).toBe(0);
    const { ended: _ended, ...unfinished } = consumer();
    expect(behindMs(unfinished, at(960))).toBeUndefined();
  });
});
