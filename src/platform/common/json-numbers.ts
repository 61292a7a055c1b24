import { atOnce, type Steps } from './waiting.js';

/** Strings, numbers, and the punctuation that locates them in a document. The rest is skipped. */
const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|[[\]{},:]|-?\d[\d.eE+-]*/g;
const NUMBER = /^[+-]?(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d+))?$/;

/** A number that parsing does not preserve, see {@link isKept}. */
export interface LostNumber {
  /**
   * JSON pointer to the number (RFC 6901). If it has more than 500 characters, the pointer to the innermost ancestor
   * whose pointer has at most 500.
   */
  pointer: string;
  /** The number as written. */
  written: string;
}

const LONGEST_POINTER = 500;

/** Tokens per step: less than a millisecond of work. */
const OF_A_STEP = 1000;

/** The first number of a JSON text that `JSON.parse` would silently change. */
export function lostNumber(json: string): LostNumber | undefined {
  return atOnce(lostNumberInSteps(json));
}

export function* lostNumberInSteps(json: string): Steps<LostNumber | undefined> {
  const path: (string | number)[] = [];
  let text = '';
  let tokens = 0;
  for (const [token] of json.matchAll(TOKEN)) {
    tokens += 1;
    if (tokens % OF_A_STEP === 0) yield;
    const last = path.length - 1;
    const key = path[last];
    if (token === '{' || token === '[') path.push(token === '{' ? '' : 0);
    else if (token === '}' || token === ']') path.pop();
    else if (token === ',') path[last] = typeof key === 'number' ? key + 1 : '';
    else if (token === ':') path[last] = text;
    else if (token.startsWith('"')) text = token;
    else if (!isKept(token)) return { pointer: pointerOf(path), written: token };
  }
  return undefined;
}

/**
 * Whether parsing preserves a written number. It does not if the number overflows, if it loses its fraction and
 * becomes 0 or an integer, or if it is an integer that loses digits. Ordinary rounding of a fraction is allowed.
 */
export function isKept(written: string): boolean {
  const number = Number(written);
  if (!Number.isFinite(number)) return false;
  const asWritten = digitsOf(written);
  if (asWritten.digits === '') return true;
  if (asWritten.exponent < 0) return !Number.isInteger(number);
  if (Number.isSafeInteger(number)) return true;
  const asRead = digitsOf(String(number));
  return asRead.digits === asWritten.digits && asRead.exponent === asWritten.exponent;
}

/** The significant digits, and the power of ten that scales them. No digits means 0. */
function digitsOf(written: string): { digits: string; exponent: number } {
  const [, whole = '', fraction = '', exponent = '0'] = NUMBER.exec(written) ?? [];
  const all = (whole + fraction).replace(/^0+/, '');
  let end = all.length;
  while (end > 0 && all[end - 1] === '0') end -= 1;
  return { digits: all.slice(0, end), exponent: Number(exponent) - fraction.length + all.length - end };
}

function pointerOf(path: (string | number)[]): string {
  const name = (key: string | number) =>
    typeof key === 'number'
      ? String(key)
      : (JSON.parse(key) as string).replaceAll('~', '~0').replaceAll('/', '~1');
  let pointer = '';
  for (const key of path) {
    const inner = `${pointer}/${name(key)}`;
    if (inner.length > LONGEST_POINTER) break;
    pointer = inner;
  }
  return pointer;
}
