import { shrink } from './schedule/shrink.js';

describe('a schedule that fails is shrunk', () => {
  it('to the turns that it needs, in their order', () => {
    const turns = Array.from({ length: 100 }, (_, index) => index);
    const needed = [3, 40, 41, 99];
    expect(shrink(turns, (fewer) => needed.every((turn) => fewer.includes(turn)))).toEqual(needed);
  });

  it('to any of the turns that make it fail', () => {
    const turns = Array.from({ length: 64 }, (_, index) => index);
    expect(shrink(turns, (fewer) => fewer.length >= 5)).toHaveLength(5);
  });
});
