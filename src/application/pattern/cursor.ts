import { type Characters, codes, except, NONE } from './tree.js';

const HEX = /\\x(?:\{([0-9a-fA-F]+)\}|(?!\{)([0-9a-fA-F]{0,2}))/y;
const PROPERTY = /\\[pP](?:\{\^?\w+\}|[A-Z])/y;

const of = (text: string) =>
  [...text].reduce((set, one) => set | codes(one.charCodeAt(0), one.charCodeAt(0)), NONE);
const between = (...ranges: string[]) =>
  ranges.reduce((set, range) => set | codes(range.charCodeAt(0), range.charCodeAt(1)), NONE);
const beyondAscii = codes(128, 128);

const DIGITS = between('09');
const SPACES = of(' \t\n\v\f\r');
const WORD = between('09', 'az', 'AZ') | of('_');
const BLANKS = of(' \t');
const LINE_ENDS = of('\n\v\f\r');

/** Character classes, by the letter after the backslash. */
export const KINDS: ReadonlyMap<string, Characters> = new Map([
  ['d', DIGITS],
  ['D', except(DIGITS)],
  ['s', SPACES],
  ['S', except(SPACES)],
  ['w', WORD],
  ['W', except(WORD)],
  // Some blanks and line ends are not ASCII.
  ['h', BLANKS | beyondAscii],
  ['H', except(BLANKS)],
  ['v', LINE_ENDS | beyondAscii],
  ['V', except(LINE_ENDS)],
]);

/** Escapes for single control characters, by the letter after the backslash. */
export const CONTROLS: ReadonlyMap<string, number> = new Map([
  ['t', 9],
  ['n', 10],
  ['f', 12],
  ['r', 13],
  ['a', 7],
  ['e', 27],
]);

/** POSIX classes by name; they are used within brackets, such as `[[:alpha:]]`. */
export const POSIX: ReadonlyMap<string, Characters> = new Map([
  ['alpha', between('az', 'AZ')],
  ['digit', DIGITS],
  ['alnum', between('az', 'AZ', '09')],
  ['upper', between('AZ')],
  ['lower', between('az')],
  ['space', SPACES],
  ['blank', of(' \t')],
  ['punct', between('!/', ':@', '[`', '{~')],
  ['word', WORD],
  ['xdigit', between('09', 'af', 'AF')],
  ['print', between(' ~')],
  ['graph', between('!~')],
  ['cntrl', codes(0, 31) | codes(127, 127)],
  ['ascii', codes(0, 127)],
]);

/** POSIX classes that mean all letters if case is ignored. */
export const OF_CASE = new Set(['upper', 'lower']);

/** A part of the syntax whose cost is unknown. */
export class NotUnderstoodError extends Error {
  constructor(readonly part: string) {
    super(part);
  }
}

/** The text is not a valid regular expression; MongoDB refuses it. */
export class MalformedError extends Error {}

/** A position in a regular expression that is being parsed. */
export class Cursor {
  at = 0;

  constructor(readonly source: string) {}

  /** Skips a text, if it comes next. */
  taken(text: string): boolean {
    if (!this.source.startsWith(text, this.at)) return false;
    this.at += text.length;
    return true;
  }

  /** Skips the match of a sticky expression. */
  match(expression: RegExp): RegExpExecArray | null {
    const found = this.peek(expression);
    if (found) this.at += found[0].length;
    return found;
  }

  peek(expression: RegExp): RegExpExecArray | null {
    expression.lastIndex = this.at;
    return expression.exec(this.source);
  }

  /** The code point of `\x41` or `\x{1F431}`. */
  hex(): number | undefined {
    const found = this.match(HEX);
    return found ? Number.parseInt((found[1] ?? found[2]!) || '0', 16) : undefined;
  }

  /** Skips `\p{L}`, which may be any character. */
  property(): boolean {
    return this.match(PROPERTY) !== null;
  }
}
