/** Control characters, and those that are not seen or change the direction of what follows. */
const HIDDEN = /[\p{Cc}\p{Cf}\u2028\u2029]/gu;

/** A text as a terminal may show it: what would move the cursor, colour or reorder what is shown stands as its number. */
export function visible(text: string): string {
  return text.replace(HIDDEN, escaped);
}

/** The same of several lines. */
export function visibleLines(text: string): string {
  return text.split('\n').map(visible).join('\n');
}

/** JSON without such characters: they stand as their numbers, which means the same. */
export function visibleJson(value: unknown): string {
  return visible(JSON.stringify(value));
}

function escaped(character: string): string {
  const units = Array.from({ length: character.length }, (_, at) => character.charCodeAt(at));
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('');
}
