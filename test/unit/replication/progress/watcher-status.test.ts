import { mongo } from 'mongoose';
import { shareDone } from '../../../../src/replication/progress/index.js';
import { type ClockedState, watcherStatusOf } from '../../../../src/replication/progress/watcher-status.js';

const NOW = 1_800_000_000;
const at = (second: number) => new mongo.Timestamp({ t: second, i: 7 });
const pass = {
  reason: 'first start',
  isRepair: false,
  started: new Date(NOW * 1000),
  done: 1,
  total: 4,
};

function stateAt(clock: number, more: Partial<ClockedState> = {}): ClockedState {
  const lease = { _id: 'watcher', holder: 'one', term: 3, expires: new Date((NOW + 5) * 1000) } as const;
  return { ...lease, watched: at(NOW), since: at(NOW - 100), clock: new Date(clock * 1000), ...more };
}

describe('the lag', () => {
  it.each([
    [NOW, 0],
    [NOW + 2.9, 2],
    [NOW + 3600, 3600],
    [NOW - 2, 0],
  ])('is the age of `watched` in whole seconds: at %d it is %d', (clock, lag) => {
    expect(watcherStatusOf(stateAt(clock), undefined).lagSeconds).toBe(lag);
  });

  it('is not known before the first pass', () => {
    const { watched: _watched, since: _since, ...state } = stateAt(NOW);
    expect(watcherStatusOf(state, at(NOW))).toMatchObject({ lagSeconds: undefined, since: undefined });
  });
});

describe('the oplog window', () => {
  it.each([
    ['reaches from the oldest entry to the token', at(NOW - 86_400), 86_400],
    ['is 0 where the token is older than the oplog', at(NOW + 60), 0],
    ['is not known where nobody tells the oldest entry', undefined, undefined],
  ])('%s', (_what, oldest, window) => {
    expect(watcherStatusOf(stateAt(NOW + 500), oldest).oplogWindowSeconds).toBe(window);
  });

  it('is not known where nothing is watched', () => {
    expect(watcherStatusOf(undefined, at(NOW)).oplogWindowSeconds).toBeUndefined();
  });
});

describe('who leads', () => {
  it.each([
    ['the holder of the lease', NOW + 4, 'one'],
    ['nobody once it has run out', NOW + 5, undefined],
  ])('%s', (_who, clock, leader) => {
    expect(watcherStatusOf(stateAt(clock), undefined)).toMatchObject({
      leader,
      leaseExpires: new Date((NOW + 5) * 1000),
      since: new Date((NOW - 100) * 1000),
    });
  });

  it('nobody where no service ever ran', () => {
    expect(watcherStatusOf(undefined, undefined)).toMatchObject({ leader: undefined, isPreparing: true });
  });
});

describe('a pass', () => {
  it('is shown, and feeds wait for it', () => {
    expect(watcherStatusOf(stateAt(NOW, { pass }), undefined)).toMatchObject({ isPreparing: true, pass });
    expect(watcherStatusOf(stateAt(NOW), undefined)).toMatchObject({ isPreparing: false, pass: undefined });
  });

  it.each([
    [0, 0, 0],
    [1, 4, 0.25],
    [4, 4, 1],
    [7, 4, 1],
  ])('that has done %d of about %d has done a share of %d', (done, total, share) => {
    expect(shareDone({ ...pass, done, total })).toBe(share);
  });
});
