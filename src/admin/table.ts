import { cutTo, type Layout, padTo, type Wording, type Tone, toned, widthOf } from './layout.js';
import { visible } from '../common/index.js';

const GAP = '  ';
/** A cell is not cut to less. */
const LEAST = 6;
/** The heading of the column whose cells say how something is; they are coloured, and are not cut to less than this. */
const STATE = 'STATE';
const LEAST_STATE = 16;

const TONES: readonly (readonly [RegExp, Tone])[] = [
  [/^(current|valid|on)\b/, 'green'],
  [/^(behind|off)\b/, 'yellow'],
  [
    /^(stalled|looping|never finished|must start over|expired|disabled|not valid|opens nothing|not served)\b/,
    'red',
  ],
];

/**
 * Rows under headings, in columns as wide as their widest cell; the sentence where there are no rows. Where a line would
 * not fit, the widest columns are cut, the first one last, which names what the row is about, and none to less than its
 * heading.
 */
export function table(headings: string[], rows: string[][], none: string): Wording {
  if (rows.length === 0) return none;
  const lines = [headings, ...rows].map((cells) => cells.map(visible));
  return (layout) => {
    const widest = widthsOf(lines);
    const least = headings.map((heading, column) => leastOf(heading, widest[column] ?? 0));
    const widths = fitting(widest, least, layout.columns);
    const stateColumn = headings.indexOf(STATE);
    return lines
      .map((cells, line) => {
        const tones = cells.map((cell, column) =>
          line === 0 ? 'bold' : column === stateColumn ? toneOf(cell) : undefined,
        );
        return lineOf(cells, { widths, tones }, layout);
      })
      .join('\n');
  };
}

function leastOf(heading: string, widest: number): number {
  return Math.max(widthOf(heading), Math.min(widest, heading === STATE ? LEAST_STATE : LEAST));
}

/** The tone of a state, by the words with which it begins. */
export function toneOf(state: string): Tone | undefined {
  return TONES.find(([pattern]) => pattern.test(state))?.[1];
}

/**
 * Widths of columns that fit into a line together, gaps included: all are cut to one greatest width, which is as great as
 * can be. The first column is cut only where the others cannot be cut any more.
 */
export function fitting(widths: number[], least: number[], columns: number): number[] {
  const room = columns - GAP.length * (widths.length - 1);
  if (total(widths) <= room) return widths;
  const [first = 0, ...others] = widths;
  const [leastFirst = 0, ...leastOthers] = least;
  const cut = cappedTo(room - first, others, leastOthers);
  return [Math.max(leastFirst, Math.min(first, room - total(cut))), ...cut];
}

/** The widths with the greatest cap under which they take no more than the room; each keeps its least width. */
function cappedTo(room: number, widths: number[], least: number[]): number[] {
  const capped = (cap: number) =>
    widths.map((width, column) => Math.max(least[column] ?? 0, Math.min(width, cap)));
  let cap = Math.max(0, ...widths);
  while (cap > 0 && total(capped(cap)) > room) cap -= 1;
  return capped(cap);
}

function lineOf(
  cells: string[],
  { widths, tones }: { widths: number[]; tones: (Tone | undefined)[] },
  layout: Layout,
): string {
  return cells
    .map((text, column) => {
      const width = widths[column] ?? 0;
      const shown = cutTo(width, text);
      const isLast = cells.slice(column + 1).every((cell) => cell === '');
      const blanks = isLast ? '' : padTo(width, shown).slice(shown.length);
      return toned(shown, tones[column], layout) + blanks;
    })
    .join(GAP)
    .trimEnd();
}

function widthsOf(lines: string[][]): number[] {
  const columns = lines[0]?.length ?? 0;
  return Array.from({ length: columns }, (_, column) =>
    lines.reduce((widest, cells) => Math.max(widest, widthOf(cells[column] ?? '')), 0),
  );
}

function total(widths: number[]): number {
  return widths.reduce((sum, width) => sum + width, 0);
}
