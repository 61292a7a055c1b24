import { type Characters, codes, except, NONE } from './tree.js';

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
