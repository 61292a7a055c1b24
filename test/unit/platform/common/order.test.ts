import { mongo } from 'mongoose';
import { earlier, later } from '../../../../src/platform/common/index.js';

const [first, second] = ['2026-11-20', '2026-11-21'].map((text) => new Date(text)) as [Date, Date];
const [low, high] = ['0'.repeat(24), 'f'.repeat(24)].map((hex) => new mongo.ObjectId(hex)) as [
  mongo.ObjectId,
  mongo.ObjectId,
];

describe('the earlier and the later one', () => {
  it.each([
    ['dates', first, second],
    ['ObjectIds', low, high],
  ])('of two %s', (_sort, one: object, other: object) => {
    expect([earlier(one, other), earlier(other, one)]).toEqual([one, one]);
    expect([later(one, other), later(other, one)]).toEqual([other, other]);
  });

  it('is the one that is there', () => {
    expect([earlier(undefined, first), earlier(first, undefined)]).toEqual([first, first]);
    expect([later(undefined, first), later(first, undefined)]).toEqual([first, first]);
    expect(later(undefined, undefined)).toBeUndefined();
  });
});
