import { effortFault } from '../../../src/application/pure.js';

/** `data.x`, and so many numbers. */
const path = (numbers: number) => ['data.x', ...Array.from({ length: numbers }, (_, n) => n % 3)].join('.');

describe('the numbers in a path, each a place in a list or a name in its elements', () => {
  it.each([
    ['eight', { [path(8)]: 1 }],
    ['eight in each of several', { $and: [{ [path(8)]: 1 }, { [path(8)]: { $gt: 2 } }] }],
    ['digits within a name', { 'data.a1.b2.c3.d4.e5.f6.g7.h8.i9': 1 }],
  ])('%s are let pass', (_what, filter) => {
    expect(effortFault(filter)).toBeUndefined();
  });

  it.each([
    ['nine', { [path(9)]: 1 }, path(9)],
    ['nine within another', { $or: [{ a: 1 }, { [path(9)]: { $exists: true } }] }, `$or[1].${path(9)}`],
    [
      'nine along `$elemMatch`',
      { [path(5)]: { $elemMatch: { '0.1.2.3': 1 } } },
      `${path(5)}.$elemMatch.0.1.2.3`,
    ],
  ])('%s are refused, with the place', (_what, filter, place) => {
    expect(effortFault(filter)).toBe(
      `The path at ${place} has 9 numbers, and may take very long in nested lists; at most 8 are allowed.`,
    );
  });
});
