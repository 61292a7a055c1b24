/**
 * Characters that control a terminal, are invisible, or change the order of the text around them: C0 and C1, format
 * characters (bidirectional, zero-width, soft hyphen, BOM), line and paragraph separators, unpaired surrogates, and
 * the block of tags, some of which Unicode leaves unassigned. The packages `client` and `conformance` contain the
 * same list.
 */
const UNSHOWN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\u{e0000}-\u{e007f}]/gu;

/** Organization, application and service names (contract, head and §4). */
export const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/** The same rule, for the OpenAPI document. */
export const NAME_SCHEMA = { type: 'string', pattern: NAME.source, minLength: 1, maxLength: 64 } as const;

export const NAME_RULE =
  'must start with a letter or digit and have at most 64 letters, digits, dots, underscores or hyphens, such as "webshop"';

/**
 * Escapes control characters, invisible characters and characters that reorder text, for example as `\n` or `\u001b`.
 * Text from other programs must not control the reader's terminal.
 */
export function visible(text: string): string {
  return text.replace(UNSHOWN, escaped);
}

/** Like {@link visible}, but keeps line breaks. */
export function visibleLines(text: string): string {
  return text.split('\n').map(visible).join('\n');
}

/**
 * Escapes the same characters as {@link visible} in a JSON document, which still parses to the same value. The document
 * must have no line breaks or tabs between its tokens: these would be escaped too.
 */
export function visibleJson(json: string): string {
  return json.replace(UNSHOWN, asCode);
}

/** Whether a text has at most `most` characters: Unicode code points, as `maxLength` of a JSON schema counts them. */
export function fits(text: string, most: number): boolean {
  return text.length <= most || (text.length <= 2 * most && Array.from(text).length <= most);
}

/** The text of a stored value. `String` alone throws for a document with a field `toString`. */
export function textOf(value: unknown): string {
  try {
    return String(value);
  } catch {
    return Object.prototype.toString.call(value);
  }
}

/** An integer with thousands separators. */
export function count(number: number): string {
  return number.toLocaleString('en');
}

/** A duration in its two largest units, such as `3 d 4 h` or `12 s`. */
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

/** The JSON escape of each UTF-16 unit. */
function asCode(character: string): string {
  const units = Array.from({ length: character.length }, (_, at) => character.charCodeAt(at));
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('');
}

/** With a capital letter at its beginning. */
export function capitalized(word: string): string {
  return `${word.charAt(0).toUpperCase()}${word.slice(1)}`;
}
