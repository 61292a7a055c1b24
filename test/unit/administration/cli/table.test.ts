import {
  type Layout,
  laidOut,
  PLAIN,
  type Tone,
  widthOf,
} from '../../../../src/administration/cli/layout.js';
import { fitting, table, toneOf } from '../../../../src/administration/cli/table.js';

const FILTER = JSON.stringify({ 'data.category': { $in: ['bikes', 'tents', 'skis', 'kayaks', 'ropes'] } });
const rows = [
  ['acme', 'bikes', 'on', FILTER],
  ['organization-with-a-long-name', 'old', 'off', '{}'],
];
const shown = (layout: Partial<Layout>, lines = rows) =>
  laidOut(table(['ORG', 'NAME', 'STATE', 'FILTER'], lines, 'none'), { ...PLAIN, ...layout });

describe('a table', () => {
  it('has columns as wide as their widest cell, and no blanks at its right side', () => {
    const text = laidOut(table(['NAME', 'X'], [['a', '1'], ['longer', '']], 'none'), PLAIN); // oxfmt-ignore
    expect(text).toBe('NAME    X\na       1\nlonger');
  });

  it('is a sentence where there are no rows', () => {
    expect(laidOut(table(['NAME'], [], 'There is none.'), PLAIN)).toBe('There is none.');
  });

  it('is whole where nothing bounds its lines', () => {
    expect(shown({})).toContain(FILTER);
  });

  it.each([120, 100, 80, 60, 51])('fits a terminal of %d columns, its first column whole', (columns) => {
    const lines = shown({ columns }).split('\n');
    for (const line of lines) expect(widthOf(line)).toBeLessThanOrEqual(columns);
    expect(lines[0]?.split(/ +/)).toEqual(['ORG', 'NAME', 'STATE', 'FILTER']);
    expect(lines[2]).toContain('organization-with-a-long-name');
  });

  it('cuts the widest column first, with a …', () => {
    expect(shown({ columns: 60 }).split('\n')[1]).toBe(
      'acme                           bikes  on     {"data.categor…',
    );
  });

  it('cuts its first column where there is no other way, and no heading ever', () => {
    expect(shown({ columns: 30 }).split('\n')).toEqual([
      'ORG       NAME   STATE  FILTER',
      'acme      bikes  on     {"dat…',
      'organiz…  old    off    {}',
    ]);
    expect(shown({ columns: 5 }).split('\n')[0]).toBe('ORG     NAME   STATE  FILTER');
  });

  it('stands straight whatever a cell takes, and nothing in it steers the terminal', () => {
    const text = laidOut(table(['A', 'B'], [['日本', 'x'], ['a', 'y'], ['\u001b[1m\n', 'z']], ''), PLAIN); // oxfmt-ignore
    expect(text.split('\n')).toEqual([
      'A            B',
      '日本         x',
      'a            y',
      '\\u001b[1m\\n  z',
    ]);
  });

  it('has bold headings and coloured states where there are colours', () => {
    const [heading, first, second] = shown({ colours: true }).split('\n');
    expect(heading).toContain('\u001b[1mORG\u001b[22m');
    expect(first).toContain('\u001b[32mon\u001b[39m   ');
    expect(second).toContain('\u001b[33moff\u001b[39m');
    // oxlint-disable-next-line no-control-regex
    expect(shown({ colours: true }).replaceAll(/\u001b\[\d+m/g, '')).toBe(shown({}));
  });
});

it.each<[Tone | undefined, string[]]>([
  ['green', ['current', 'valid', 'valid until 2030-01-01T00:00:00.000Z', 'on']],
  ['yellow', ['behind', 'off']],
  ['red', ['stalled', 'looping', 'never finished', 'must start over', 'expired 2020-01-01', 'disabled']],
  [
    'red',
    ['not valid', 'opens nothing: a field is of the wrong type', 'not served: its names are not valid'],
  ],
  [undefined, ['online', '']],
])('%s are states such as %p', (tone, states) => {
  expect(states.map(toneOf)).toEqual(states.map(() => tone));
});

it.each([
  { widths: [10, 10, 10], columns: 34, fit: [10, 10, 10] },
  { widths: [10, 40, 20], columns: 54, fit: [10, 20, 20] },
  { widths: [10, 40, 20], columns: 44, fit: [10, 15, 15] },
  { widths: [40, 40, 2], columns: 34, fit: [25, 4, 1] },
])('$widths in $columns columns are $fit', ({ widths, columns, fit }) => {
  expect(fitting(widths, [4, 4, 1], columns)).toEqual(fit);
});
