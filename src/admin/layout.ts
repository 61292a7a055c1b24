import { styleText } from 'node:util';
import stringWidth from 'string-width';
import { visibleLines } from '../common/index.js';

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
