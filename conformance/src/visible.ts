/** What a terminal acts on, and what is invisible or changes the order of text. The service has the same list. */
const UNSHOWN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\u{e0000}-\u{e007f}]/gu;

/** Makes a text safe for a terminal: characters that would move the cursor, colour or reorder the output become escapes. */
export function visible(text: string): string {
  return text.replace(UNSHOWN, escaped);
}

/** JSON with such characters written as escapes, which parse to the same value. */
export function visibleJson(value: unknown): string {
  return JSON.stringify(value).replace(UNSHOWN, asCode);
}

function escaped(character: string): string {
  return { '\n': '\\n', '\r': '\\r', '\t': '\\t' }[character] ?? asCode(character);
}

function asCode(character: string): string {
  const units = Array.from({ length: character.length }, (_, at) => character.charCodeAt(at));
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('');
}
