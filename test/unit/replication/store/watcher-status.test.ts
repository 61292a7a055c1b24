import { mongo } from 'mongoose';
import { greatestLag } from '../../../../src/replication/store/index.js';
import { type ClockedState, watcherStatusOf } from '../../../../src/replication/store/watcher-status.js';

const NOW = 1_800_000_000;
const at = (second: number) => new mongo.Timestamp({ t: second, i: 7 });
const pass = {
  reason: 'first start',
  isRepair: false,
  started: new Date(NOW * 1000),
  done: 1,
  total: 4,
};

const oplog = (oldest: mongo.Timestamp, usedRatio?: number, newest = at(NOW)) => ({
  oldest,
  newest,
  usedRatio,
});

function stateAt(clock: number, more: Partial<ClockedState> = {}): ClockedState {
  const lease = { _id: 'watcher', holder: 'one', term: 3, expires: new Date((NOW + 5) * 1000) } as const;
  const now = new Date(clock * 1000);
  return { ...lease, watched: at(NOW), since: at(NOW - 100), clock: now, now, ...more };
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

  it.each([
    ['shrinks', 20, 60, 10],
    ['does not', 20, 20, undefined],
    ['is a usual one', 4, 60, undefined],
  ])('ends at its pace where it %s', (_what, lag, done, secondsLeft) => {
    const pace = { seconds: 20, done, added: 20 };
    const state = stateAt(NOW + lag, { pace, expires: new Date((NOW + 100) * 1000) });
    expect(watcherStatusOf(state, undefined).secondsLeft).toBe(secondsLeft);
  });

  it('is not known before the first pass', () => {
    const { watched: _watched, since: _since, ...state } = stateAt(NOW);
    expect(watcherStatusOf(state, oplog(at(NOW)))).toMatchObject({ lagSeconds: undefined, since: undefined });
  });
});

describe('applications that are worked through beside all others', () => {
  const of = (appid: string, watched: unknown) => ({ organizationid: 'acme', appid, watched, token: {} });
  const aside = [of('shop', at(NOW - 90)), of('club', at(NOW + 3))] as ClockedState['aside'] & object;

  it('are told with their lag, and the lag of the watcher is that of all others', () => {
    const status = watcherStatusOf(stateAt(NOW + 2, { aside }), undefined);
    expect(status.aside).toEqual([
      { organizationid: 'acme', appid: 'shop', lagSeconds: 92 },
      { organizationid: 'acme', appid: 'club', lagSeconds: 0 },
    ]);
    expect([status.lagSeconds, greatestLag(status.aside)]).toEqual([2, 92]);
  });

  it('are told with how much is done, and how long the rest will take', () => {
    const pace = { seconds: 10, done: 30, added: 10 };
    const working = [{ ...aside[0], done: 30, total: 40, pace }] as ClockedState['aside'] & object;
    const status = watcherStatusOf(stateAt(NOW, { aside: working }), undefined);
    expect(status.aside).toMatchObject([{ share: 0.75, secondsLeft: 5 }]);
    const unled = { aside: working, expires: new Date(NOW * 1000) };
    const { aside: left } = watcherStatusOf(stateAt(NOW, unled), undefined);
    expect([left[0]!.share, left[0]!.secondsLeft]).toEqual([0.75, undefined]);
  });

  it('are none as a rule', () => {
    const status = watcherStatusOf(stateAt(NOW), undefined);
    expect([status.aside, greatestLag(status.aside)]).toEqual([[], 0]);
  });

  it('the oplog has to reach back to the slowest', () => {
    const known = oplog(at(NOW - 100));
    expect(watcherStatusOf(stateAt(NOW, { aside }), known).oplogWindowSeconds).toBe(10);
  });

  it('the oplog has to reach back to the slowest, although a pass of another one has no place yet', () => {
    const passing = { organizationid: 'acme', appid: 'depot', pass };
    const known = oplog(at(NOW - 100));
    const window = (...some: unknown[]) =>
      watcherStatusOf(stateAt(NOW, { aside: some as never }), known).oplogWindowSeconds;
    expect(window(...aside, passing)).toBe(10);
    expect(window(passing)).toBe(100);
    expect(window(...aside, null, of('odd', 'soon'), { ...passing, watched: 'soon' })).toBe(10);
  });

  it('are told only where each has a name and a place', () => {
    const odd = [null, 7, of('shop', 'soon'), { appid: 'shop', watched: at(NOW) }, of('club', at(NOW))];
    const status = watcherStatusOf(stateAt(NOW, { aside: odd as never }), undefined);
    expect(status.aside.map(({ appid }) => appid)).toEqual(['club']);
    expect(watcherStatusOf(stateAt(NOW, { aside: 'all' as never }), undefined).aside).toEqual([]);
  });
});

it.each([
  [0, 0],
  [0.9, 0],
  [120.5, 120],
])("a server's clock is behind the cluster time by %d s: %d", (behind, seconds) => {
  const now = new Date((NOW - behind) * 1000);
  expect(watcherStatusOf(stateAt(NOW, { now }), undefined).clockBehindSeconds).toBe(seconds);
});

describe('the oplog window', () => {
  it.each([
    ['reaches from the oldest entry to the token', oplog(at(NOW - 86_400)), 86_400],
    ['is 0 where the token is older than the oplog', oplog(at(NOW + 60)), 0],
    ['is not known where nobody tells of the oplog', undefined, undefined],
  ])('%s', (_what, known, window) => {
    expect(watcherStatusOf(stateAt(NOW + 500), known).oplogWindowSeconds).toBe(window);
  });

  it('is not known where nothing is watched', () => {
    expect(watcherStatusOf(undefined, oplog(at(NOW))).oplogWindowSeconds).toBeUndefined();
  });
});

describe('for how long the oplog will hold what is written, at its rate so far', () => {
  it.each([
    ['a young one that is hardly used', oplog(at(NOW - 600), 0.03), 20_000],
    ['a full one: what it holds now', oplog(at(NOW - 86_400), 1), 86_400],
    ['one whose size is not known', oplog(at(NOW - 600)), undefined],
    ['one of this very second', oplog(at(NOW), 0.001), undefined],
    ['one that is empty', oplog(at(NOW - 600), 0), undefined],
    ['none that can be asked', undefined, undefined],
  ])('%s', (_what, known, seconds) => {
    const status = watcherStatusOf(stateAt(NOW), known);
    expect([status.oplogUsedRatio, status.oplogPredictedWindowSeconds]).toEqual([known?.usedRatio, seconds]);
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
});
