import { duration } from '../../../../src/platform/common/index.js';

it.each([
  [0, '0 s'],
  [59.9, '59 s'],
  [60, '1 min'],
  [3725, '1 h 2 min'],
  [86_400 + 61, '1 d'],
  [100 * 86_400 + 7200, '100 d 2 h'],
])('tells %d seconds in the two greatest units: %s', (seconds, text) => {
  expect(duration(seconds)).toBe(text);
});
