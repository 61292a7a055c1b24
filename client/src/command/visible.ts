/** Control characters, and characters that are invisible or change the direction of text. */
const HIDDEN = /[\p{Cc}\p{Cf}\u2028\u2029]/gu;

/** Makes a text safe for a terminal: characters that would move the cursor, colour or reorder the output become escapes. */
export function visible(text: string): string {
  return text.replace(HIDDEN, escaped);
}

/** The same for several lines; line breaks are kept. */
export function visibleLines(text: string): string {
  return text.split('\n').map(visible).join('\n');
}

/** JSON with such characters written as escapes, which parse to the same value. */
export function visibleJson(value: unknown): string {
  return visible(JSON.stringify(value));
}

function escaped(character: string): string {
  const units = Array.from({ length: character.length }, (_, at) => character.charCodeAt(at));
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('');
}
