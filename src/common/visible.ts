/**
 * What a terminal acts on instead of showing, and what is invisible or changes the order of the text around it: C0 and C1, format
 * characters (bidirectional, zero-width, soft hyphen, BOM), line and paragraph separators, surrogates without their other half,
 * and the block of tags, of which Unicode leaves some unassigned. The packages `client` and `conformance` have the same list.
 */
const UNSHOWN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\u{e0000}-\u{e007f}]/gu;

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

function escaped(character: string): string {
  return { '\n': '\\n', '\r': '\\r', '\t': '\\t' }[character] ?? asCode(character);
}

/** Of each UTF-16 unit, as JSON has it. */
function asCode(character: string): string {
  const units = Array.from({ length: character.length }, (_, at) => character.charCodeAt(at));
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('');
}
