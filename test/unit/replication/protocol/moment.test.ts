import fc from 'fast-check';
import { mongo } from 'mongoose';
import {
  isShown,
  type Moment,
  newestMoment,
  servingMoment,
  isPreparing,
  type WatchProgress,
} from '../../../../src/replication/protocol/index.js';

const at = (n: number) => new mongo.Timestamp({ t: 1, i: n });
const moment = (fence: number, place: number): Moment => ({ fence: new Date(fence), at: at(place) });
const between = (since: number, watched: number): WatchProgress => ({
  since: at(since),
  watched: at(watched),
});

describe('503 preparing', () => {
  it.each<[string, WatchProgress, boolean]>([
    ['before the first pass has ended', {}, true],
    ['while one is under way', { ...between(1, 2), pass: {} }, true],
    ['until the stream has come to the end of the pass', between(3, 2), true],
    ['no longer when it has', between(3, 3), false],
    ['nor behind it', between(3, 4), false],
  ])('%s', (_name, progress, expected) => {
    expect(isPreparing(progress)).toBe(expected);
  });
});

describe('a moment is shown', () => {
  it.each<[string, number, boolean]>([
    ['not before the last pass', 1, false],
    ['at its end', 2, true],
    ['where the watcher is', 4, true],
    ['not where the watcher has not come to', 5, false],
  ])('%s', (_name, place, expected) => {
    expect(isShown(moment(1, place), between(2, 4))).toBe(expected);
  });
});

describe('the moment that serves a window', () => {
  const passed = [moment(10, 3), moment(20, 5), moment(30, 7)];

  it.each<[string, number, number | undefined, Moment | undefined]>([
    ['the smallest fence that reaches to', 11, undefined, moment(20, 5)],
    ['a fence at to', 20, undefined, moment(20, 5)],
    ['none where no fence reaches it', 31, undefined, undefined],
    ['from a cluster time on', 1, 4, moment(20, 5)],
  ])('%s', (_name, to, notBefore, expected) => {
    const from = notBefore === undefined ? undefined : at(notBefore);
    expect(servingMoment(passed, between(1, 9), new Date(to), from)).toEqual(expected);
  });

  it('of several raises while the clock stood still, the first', () => {
    expect(servingMoment([moment(10, 5), moment(10, 3)], between(1, 9), new Date(10))).toEqual(moment(10, 3));
  });

  it('stays the same while new moments are passed, so that all pages of a harvest show the same', () => {
    const raises = fc.array(fc.nat(5), { minLength: 1, maxLength: 20 });
    fc.assert(
      fc.property(raises, fc.nat(30), (steps, to) => {
        let fence = 0;
        const moments = steps.map((step, index) => moment((fence += step), index + 1));
        const before = servingMoment(moments.slice(0, -1), between(0, moments.length - 1), new Date(to));
        const after = servingMoment(moments, between(0, moments.length), new Date(to));
        if (before !== undefined) expect(after).toEqual(before);
      }),
    );
  });
});

it('the newest moment is the one with the greatest fence that can be shown', () => {
  const passed = [moment(10, 3), moment(30, 7), moment(20, 5), moment(40, 9)];
  expect(newestMoment(passed, between(1, 8))).toEqual(moment(30, 7));
  expect(newestMoment(passed, between(4, 4))).toBeUndefined();
});
