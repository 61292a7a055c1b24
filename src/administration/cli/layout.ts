import { styleText } from 'node:util';
import stringWidth from 'string-width';
import { visibleLines } from '../../platform/common/index.js';

/** How to lay out a text. */
export interface Layout {
  /** The cells that a line may take; Infinity if the output has no width. */
  columns: number;
  colours: boolean;
}

/** The layout for a file or another program: unlimited width, and no colours. */
export const PLAIN: Layout = { columns: Infinity, colours: false };

/** The text of a command: a string, or a function that lays it out. */
export type Wording = string | ((layout: Layout) => string);

/** Lays out wording. Control characters of a string are made visible, so that they cannot control the terminal. */
export function laidOut(said: Wording, layout: Layout): string {
  return typeof said === 'string' ? visibleLines(said) : said(layout);
}

/** Joins wordings, each on its own lines. */
export function inOrder(...parts: Wording[]): Wording {
  return (layout) => parts.map((part) => laidOut(part, layout)).join('\n');
}

/**
 * A file that a command prints. Written to a file or a pipe unchanged; on a terminal, control characters are made visible.
 */
export function asIs(text: string): Wording {
  return ({ columns }) => (columns === Infinity ? text : visibleLines(text));
}

export type Tone = 'bold' | 'green' | 'yellow' | 'red' | 'dim';

/** A text in a tone, if colours are enabled. */
export function toned(text: string, tone: Tone | undefined, { colours }: Layout): string {
  if (!colours || tone === undefined || text === '') return text;
  return styleText(tone, text, { validateStream: false });
}

/** The width of a text in terminal cells. */
export function widthOf(text: string): number {
  return stringWidth(text);
}

const segmenter = new Intl.Segmenter();
const CUT = '…';

/** The text if it fits; otherwise as much of its beginning as fits before a `…`. */
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

/** Distributes words over lines like those of {@link wrapped}. A word that is longer than a line gets its own line. */
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
