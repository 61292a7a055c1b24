import { mongo } from 'mongoose';
import {
  isAside,
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
