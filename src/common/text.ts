/**
 * What a terminal acts on instead of showing, and what is invisible or changes the order of the text around it: C0 and C1, format
 * characters (bidirectional, zero-width, soft hyphen, BOM), line and paragraph separators, surrogates without their other half,
 * and the block of tags, of which Unicode leaves some unassigned. The packages `client` and `conformance` have the same list.
 */
const UNSHOWN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\u{e0000}-\u{e007f}]/gu;

/** Organization, application and service names (contract, head and §4). */
export const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/** The same, for the OpenAPI document. */
export const NAME_SCHEMA = { type: 'string', pattern: NAME.source, minLength: 1, maxLength: 64 } as const;

export const NAME_RULE =
  'must start with a letter or digit and have at most 64 letters, digits, dots, underscores or hyphens, such as "webshop"';

/**
 * A text with such characters written out, as `\n` or `\u001b`: what comes from other programs must not control the reader's
 * terminal.
 */
export function visible(text: string): string {
  return text.replace(UNSHOWN, escaped);
}

/** The same, with its line breaks kept. */
export function visibleLines(text: string): string {
  return text.split('\n').map(visible).join('\n');
}

/** A JSON document with such characters as escapes; it parses to the same value. */
export function visibleJson(json: string): string {
  return json.replace(UNSHOWN, asCode);
}

/** A whole number with its thousands apart. */
export function count(number: number): string {
  return number.toLocaleString('en');
}

/** A length of time in its two greatest units, such as `3 d 4 h` or `12 s`. */
export function duration(seconds: number): string {
  const units = [
    ['d', Math.floor(seconds / 86_400)],
    ['h', Math.floor(seconds / 3600) % 24],
    ['min', Math.floor(seconds / 60) % 60],
    ['s', Math.floor(seconds) % 60],
  ] as const;
  const first = units.findIndex(([, number]) => number > 0);
  const said = first === -1 ? units.slice(-1) : units.slice(first, first + 2);
  return said
    .filter(([, number], place) => place === 0 || number > 0)
    .map(([unit, number]) => `${count(number)} ${unit}`)
    .join(' ');
}

function escaped(character: string): string {
  return { '\n': '\\n', '\r': '\\r', '\t': '\\t' }[character] ?? asCode(character);
}

/** Of each UTF-16 unit, as JSON has it. */
function asCode(character: string): string {
  const units = Array.from({ length: character.length }, (_, at) => character.charCodeAt(at));
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('');
}
