import { oncePerId } from '../../../client/src/harvest/once-per-id.js';
import { decide } from '../../../client/src/stores/decide.js';
import { gone, upsert } from './changes.js';

describe('what a page does to what is held', () => {
  const held = new Map([['a', '2026-01-02']]);

  it.each([
    [
      'an upsert of what is not held',
      [upsert('b', '2026-01-01')],
      { upserts: ['b'], marked: [], removed: [] },
    ],
    ['a newer one', [upsert('a', '2026-01-03')], { upserts: ['a'], marked: [], removed: [] }],
    ['the same once more', [upsert('a', '2026-01-02')], { upserts: ['a'], marked: [], removed: [] }],
    [
      'an older one is not applied, and marks',
      [upsert('a', '2026-01-01')],
      { upserts: [], marked: ['a'], removed: [] },
    ],
    ['a delete of the same moment', [gone('a', '2026-01-02')], { upserts: [], marked: [], removed: ['a'] }],
    ['an older delete', [gone('a', '2026-01-01')], { upserts: [], marked: [], removed: [] }],
    ['a delete of what is not held', [gone('b', '2026-01-03')], { upserts: [], marked: [], removed: [] }],
  ])('%s', (_name, changes, expected) => {
    const { upserts, ...others } = decide(changes, held);
    expect({ upserts: upserts.map(({ id }) => id), ...others }).toEqual(expected);
  });

  it('of an id that a page tells twice, the newest counts', () => {
    const [older, newer, other] = [
      upsert('a', '2026-01-01'),
      gone('a', '2026-01-02'),
      upsert('b', '2026-01-01'),
    ];
    expect(oncePerId([older, other, newer])).toEqual([newer, other]);
    expect(oncePerId([newer, other, older])).toEqual([newer, other]);
  });
});
