import { sizeBehind } from '../../../../src/replication/watcher/source.js';

describe('where events are rare, a batch is full with the first; where they are many, it grows to 1,000', () => {
  it.each([
    [0, 1],
    [1, 2],
    [2, 4],
    [499, 998],
    [500, 1000],
    [1000, 1000],
  ])('behind %i events %i are asked for', (events, size) => {
    expect(sizeBehind(events)).toBe(size);
  });
});
