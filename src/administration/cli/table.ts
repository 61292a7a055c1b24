import mongoose from 'mongoose';
import { count, visible } from '../../platform/common/index.js';
import { type Layout, type Wording, type Tone, toned, widthOf, cutTo, padTo, wrapped } from './layout.js';

const { EJSON } = mongoose.mongo.BSON;
const LONGEST_CELL = 1000;

const GAP = '  ';
/** The least width to which a cell is cut. */
const LEAST = 6;
/** The heading of the column of states. Its cells are coloured, and are not cut below `LEAST_STATE`. */
const STATE = 'STATE';
const LEAST_STATE = 16;

const TONES: readonly (readonly [RegExp, Tone])[] = [
  [/^(current|valid|on|ready)\b/, 'green'],
  [/^(behind|off|preparing)\b/, 'yellow'],
  [
    /^(stalled|looping|never finished|must start over|expired|disabled|not valid|opens nothing|not served)\b/,
    'red',
  ],
];

/**
 * Rows under headings, in columns as wide as their widest cell; `none` if there are no rows. If a line does not fit,
 * the widest columns are cut, but not below the width of their headings. The first column, which names the subject of
 * the row, is cut last.
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

/** The tone of a state, by its first words. */
export function toneOf(state: string): Tone | undefined {
  return TONES.find(([pattern]) => pattern.test(state))?.[1];
}

/**
 * Widths of columns that fit into a line together, gaps included. All columns but the first are cut to one maximum
 * width, which is as large as possible; each keeps its least width. The first column is cut only if the others cannot
 * be cut any more.
 */
export function fitting(widths: number[], least: number[], columns: number): number[] {
  const room = columns - GAP.length * (widths.length - 1);
  if (total(widths) <= room) return widths;
  const [first = 0, ...others] = widths;
  const [leastFirst = 0, ...leastOthers] = least;
  const cut = cappedTo(room - first, others, leastOthers);
  return [Math.max(leastFirst, Math.min(first, room - total(cut))), ...cut];
}

/** Applies the largest cap under which the widths fit into the room. Each column keeps its least width. */
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

/** The least width of a text, on any terminal. */
const NARROWEST = 20;

/** A label, its text, and the tone of the text. A line with an empty label continues the previous one. */
export type SaidLine = readonly [about: string, text: string, tone?: Tone | undefined];

/** Labels with their texts beside them. A long text continues on the lines below. */
export function described(lines: readonly SaidLine[]): Wording {
  const width = Math.max(0, ...lines.map(([about]) => widthOf(about)));
  return (layout) => lines.flatMap((line) => oneDescribed(line, width, layout)).join('\n');
}

function oneDescribed([about, text, tone]: SaidLine, width: number, layout: Layout): string[] {
  const room = Math.max(NARROWEST, layout.columns - width - GAP.length);
  const [first = '', ...others] = wrapped(visible(text), room).map((line) => toned(line, tone, layout));
  const front = toned(about, 'bold', layout) + padTo(width, about).slice(about.length) + GAP;
  return [front + first, ...others.map((line) => ' '.repeat(width) + GAP + line)];
}

/** Formats a stored value of any type for a cell: operators write some collections by hand. Long values are cut. */
export function cell(value: unknown): string {
  if (value === undefined) return '';
  const text = typeof value === 'string' ? value : EJSON.stringify(value, { relaxed: true });
  return text.length > LONGEST_CELL ? `${text.slice(0, LONGEST_CELL)}…` : text;
}

/** A number with its noun, such as `1 record` or `2 records`. */
export function counted(number: number, thing: string, plural = `${thing}s`): string {
  return `${count(number)} ${number === 1 ? thing : plural}`;
}
