import fc from 'fast-check';
import { differingFields, type Row, rowsBetween, shortened } from '../../../console/src/fields/difference.js';

const textOf = (rows: Row[], side: 'before' | 'after') =>
  rows.flatMap(({ [side]: text }) => text ?? []).join('\n');
const withoutComma = (text: string | undefined) => text?.replace(/,$/, '');
/** Values that often share names and elements. */
const json = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom(null, true, 0, 1, '', 'a', 'a,'),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(fc.constantFrom('a', 'b', 'c', 'd', '__proto__', 'toString', ''), tie('value'), {
      noNullPrototype: true,
    }),
  ),
})).value;

describe('The rows between two items', () => {
  it('are each of them whole, and name a field where and only where they differ', () => {
    fc.assert(
      fc.property(json, json, (before, after) => {
        const rows = rowsBetween(before, after);
        expect(JSON.parse(textOf(rows, 'before'))).toEqual(before);
        expect(JSON.parse(textOf(rows, 'after'))).toEqual(after);
        for (const row of rows)
          if (row.path !== undefined) expect([row.before, row.after].filter(Boolean)).toHaveLength(1);
        const isSame = JSON.stringify(sorted(before)) === JSON.stringify(sorted(after));
        expect(rows.every(({ path }) => path === undefined)).toBe(isSame);
      }),
      { numRuns: 2000 },
    );
  });

  it('are those of JSON.stringify where nothing differs, but for the order of names', () => {
    fc.assert(
      fc.property(json, (item) => {
        const text = JSON.stringify(item, null, 2);
        expect(textOf(rowsBetween(item, item), 'before')).toBe(text);
        expect(textOf(rowsBetween(item, item), 'after')).toBe(text);
      }),
    );
  });

  it('that are in both have the same text, up to a comma', () => {
    const rows = rowsBetween({ a: 1, b: { c: 1 }, d: 2 }, { a: 1, b: { c: 1, e: 5 } });
    expect(rows.map(({ before, after, path }) => [before, after, path])).toEqual([
      ['{', '{', undefined],
      ['  "a": 1,', '  "a": 1,', undefined],
      ['  "b": {', '  "b": {', undefined],
      ['    "c": 1', '    "c": 1,', undefined],
      [undefined, '    "e": 5', 'b.e'],
      ['  },', '  }', undefined],
      ['  "d": 2', undefined, 'd'],
      ['}', '}', undefined],
    ]);
    for (const { before, after } of rows.filter(({ path }) => path === undefined))
      expect(withoutComma(before)).toBe(withoutComma(after));
  });

  it.each([
    [{ data: { rows: [{ a: 1, b: 1 }, { b: 2 }] } }, { data: { rows: [{ a: 1 }, {}] } }, ['data.rows.b']],
    [{ data: { a: [1] } }, { data: { a: 'hash' } }, ['data.a']],
    [{ data: { a: { b: 1 } } }, { data: { a: {} } }, ['data.a.b']],
    [{ data: [[1]] }, { data: [[null]] }, ['data']],
    [{ a: 1 }, { a: 1 }, []],
  ])('of %j and %j name the fields %j', (before, after, fields) => {
    expect(differingFields(rowsBetween(before, after))).toEqual(fields);
  });
});

describe('Rows far from a difference', () => {
  const numbers = Object.fromEntries(Array.from({ length: 30 }, (_, n) => [`n${n}`, n] as const));

  it('are left out, with their number, on both sides', () => {
    const rows = shortened(rowsBetween({ ...numbers, z: 1 }, numbers));
    expect(textOf(rows, 'before')).toBe('⋮ 28 lines\n  "n27": 27,\n  "n28": 28,\n  "n29": 29,\n  "z": 1\n}');
    expect(textOf(rows, 'after')).toBe('⋮ 28 lines\n  "n27": 27,\n  "n28": 28,\n  "n29": 29\n}');
  });

  it('stay where they are few, or nothing differs', () => {
    const few = rowsBetween({ a: 1, b: 1, c: 1, d: 1, z: 1 }, { a: 1, b: 1, c: 1, d: 1 });
    expect(shortened(few)).toEqual(few);
    const same = rowsBetween(numbers, numbers);
    expect(shortened(same)).toEqual(same);
  });
});

/** The same value with its names in order. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([name, one]) => [name, sorted(one)] as const);
  return { names: entries.sort(([one], [other]) => (one < other ? -1 : 1)) };
}
