import { styleText } from 'node:util';
import stringWidth from 'string-width';
import mongoose from 'mongoose';
import { visibleLines, count, visible } from '../common/index.js';

/** How a text is laid out for its reader. */
export interface Layout {
  /** The cells that a line may take; Infinity if the output has no width. */
  columns: number;
  colours: boolean;
}

/** For a file or another program: everything, and nothing but the text. */
export const PLAIN: Layout = { columns: Infinity, colours: false };

/** What a command has to say: as it is, or laid out for the place where it is shown. */
export type Wording = string | ((layout: Layout) => string);

/** Wording as text that a terminal can only show. */
export function laidOut(said: Wording, layout: Layout): string {
  return typeof said === 'string' ? visibleLines(said) : said(layout);
}

/** What is said one after the other, each on lines of its own. */
export function inOrder(...parts: Wording[]): Wording {
  return (layout) => parts.map((part) => laidOut(part, layout)).join('\n');
}

/** A file that a command prints: in a file or a pipe byte for byte, on a terminal as text that it can only show. */
export function asIs(text: string): Wording {
  return ({ columns }) => (columns === Infinity ? text : visibleLines(text));
}

export type Tone = 'bold' | 'green' | 'yellow' | 'red' | 'dim';

/** A text in a tone, where there are colours. */
export function toned(text: string, tone: Tone | undefined, { colours }: Layout): string {
  if (!colours || tone === undefined || text === '') return text;
  return styleText(tone, text, { validateStream: false });
}

/** How many cells of a terminal a text takes. */
export function widthOf(text: string): number {
  return stringWidth(text);
}

const segmenter = new Intl.Segmenter();
const CUT = '…';

/** The text itself where it fits; else as much of its beginning as fits beside a `…`. */
export function cutTo(width: number, text: string): string {
  if (text.length <= width && /^[ -~]*$/.test(text)) return text;
  if (widthOf(text) <= width) return text;
  let kept = '';
  let taken = CUT.length;
  for (const { segment } of segmenter.segment(text)) {
    taken += widthOf(segment);
    if (taken > width) break;
    kept += segment;
  }
  return kept + CUT;
}

/** The text, padded with blanks to a number of cells. */
export function padTo(width: number, text: string): string {
  return text + ' '.repeat(Math.max(0, width - widthOf(text)));
}

/** A text in lines of limited width, broken between words; all lines but the first are indented. */
export function wrapped(text: string, columns: number, indent = 0): string[] {
  if (widthOf(text) <= columns) return [text];
  return inLines(text.trim().split(/ +/), columns, indent);
}

/** Words in lines likewise. A word that is longer than a line has one of its own. */
export function inLines(words: string[], columns: number, indent = 0): string[] {
  const lines: string[] = [];
  for (const word of words) {
    const line = lines.at(-1);
    if (line === undefined) lines.push(word);
    else if (widthOf(line) + 1 + widthOf(word) > columns) lines.push(' '.repeat(indent) + word);
    else lines[lines.length - 1] = `${line} ${word}`;
  }
  return lines;
}

const { EJSON } = mongoose.mongo.BSON;
const LONGEST_CELL = 1000;

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

/** The least width of a text, on any terminal. */
const NARROWEST = 20;

/** A label, its text, and the tone of the text. An empty label continues the line before. */
export type SaidLine = readonly [about: string, text: string, tone?: Tone | undefined];

/** Labels with their texts beside them; a long text continues below its beginning. */
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

/** A stored value in a cell, whatever it is: operators write some collections by hand. Long ones are cut. */
export function cell(value: unknown): string {
  if (value === undefined) return '';
  const text = typeof value === 'string' ? value : EJSON.stringify(value, { relaxed: true });
  return text.length > LONGEST_CELL ? `${text.slice(0, LONGEST_CELL)}…` : text;
}

/** A number of things in words, such as `1 record` or `2 records`. */
export function counted(number: number, thing: string): string {
  return `${count(number)} ${thing}${number === 1 ? '' : 's'}`;
}
