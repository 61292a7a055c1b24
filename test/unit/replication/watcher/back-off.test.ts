import { pauseBehind } from '../../../../src/replication/watcher/term/stream-work.js';

it('twice as long after each trouble in a row, up to half a minute', () => {
  const pauses = Array.from({ length: 9 }, (_, troubles) => pauseBehind(troubles));
  expect(pauses).toEqual([1000, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000, 30_000]);
});
