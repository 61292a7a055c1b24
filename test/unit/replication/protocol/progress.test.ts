import { mongo } from 'mongoose';
import {
  isAside,
  laggardsAt,
  passingIn,
  progressOf,
  progressOfAll,
  type TotalProgress,
} from '../../../../src/replication/protocol/progress.js';

const at = (t: number) => new mongo.Timestamp({ t, i: 1 });
const SHOP = { organizationid: 'acme', appid: 'shop' };
const CLUB = { organizationid: 'acme', appid: 'club' };
const OTHER = { organizationid: 'else', appid: 'shop' };

const STATE: TotalProgress = {
  ...{ watched: at(9), since: at(2), pass: 'under way' },
  aside: [
    { ...SHOP, watched: at(5) },
    { ...CLUB, watched: at(4) },
  ],
};

it('an application that is aside has its own place; the end of the last pass and the pass are those of all', () => {
  expect(progressOf(STATE, SHOP)).toEqual({ watched: at(5), since: at(2), pass: 'under way' });
  expect(progressOf(STATE, OTHER)).toEqual({ watched: at(9), since: at(2), pass: 'under way' });
  expect([SHOP, CLUB, OTHER].map((tenant) => isAside(STATE, tenant))).toEqual([true, true, false]);
});

it('all have come as far as the slowest', () => {
  expect(progressOfAll(STATE)).toMatchObject({ watched: at(4) });
  expect(progressOfAll({ ...STATE, watched: at(3) })).toMatchObject({ watched: at(3) });
});

it.each<[string, object]>([
  ['is absent', {}],
  ['holds none', { aside: [] }],
  ['is null', { aside: null }],
])('the list of applications %s: there is one progress', (_what, more) => {
  const state = { watched: at(9), ...more } as TotalProgress;
  expect([progressOf(state, SHOP), progressOfAll(state)]).toEqual([{ watched: at(9) }, { watched: at(9) }]);
});

it.each<[string, object]>([
  ['a number', { watched: 7 }],
  ['a number in place of the list', { watched: at(9), aside: 7 }],
  ['a text in the entry', { watched: at(9), aside: [{ ...SHOP, watched: 'soon' }] }],
])('%s in place of a cluster time tells nothing', (_what, stored) => {
  const state = stored as TotalProgress;
  expect([progressOf(state, SHOP).watched, progressOfAll(state).watched]).toEqual([undefined, undefined]);
});

describe('which applications are not processed up to a cluster time', () => {
  const state: TotalProgress = {
    ...{ watched: at(9), since: at(2) },
    aside: [
      { ...SHOP, watched: at(5) },
      { ...CLUB, pass: { reason: 'test' } },
      { ...OTHER, watched: at(8), since: at(9) },
    ],
  };

  it('those over which a pass is due or has ended behind it, and those whose lanes are behind it', () => {
    const isOutdated = false;
    expect(laggardsAt(state, at(5))).toEqual({ passing: [CLUB, OTHER], behind: [], kinds: [], isOutdated });
    expect(laggardsAt(state, at(6))).toEqual({
      passing: [CLUB, OTHER],
      behind: [SHOP],
      kinds: [],
      isOutdated,
    });
    expect(laggardsAt(state, at(9))).toEqual({
      passing: [CLUB],
      behind: [SHOP, OTHER],
      kinds: [],
      isOutdated,
    });
    expect(laggardsAt({ ...state, aside: [] }, at(9))).toEqual({
      passing: [],
      behind: [],
      kinds: [],
      isOutdated,
    });
    expect(passingIn(state)).toEqual([CLUB]);
  });

  it('a time before the end of the pass over everything is outdated', () => {
    expect(laggardsAt(state, at(2))).toMatchObject({ isOutdated: false });
    expect(laggardsAt(state, at(1))).toMatchObject({ isOutdated: true });
  });

  it.each<[string, object]>([
    ['the main loop has not reached it', { watched: at(4) }],
    ['the main loop has not reached the end of the last pass', { since: at(10) }],
    ['a pass over everything is under way', { pass: {} }],
    ['no pass has ended', { since: undefined }],
    ['the list of applications is a text', { aside: 'all' }],
    ['an application has no name', { aside: [{ ...SHOP, appid: 7, watched: at(9) }] }],
    ['an application is null', { aside: [null] }],
  ])('unknown while %s', (_when, more) => {
    expect(laggardsAt({ ...state, ...more }, at(5))).toBeUndefined();
  });
});
