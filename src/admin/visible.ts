/** What a terminal obeys instead of showing: control characters, and those that turn the direction of text. */
const OBEYED = /[\p{Cc}\p{Zl}\p{Zp}\p{Cs}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

/**
 * A text with such characters written out, as `\n` or `\u001b`: what is stored comes from other programs, and shall not
 * control the reader's terminal.
 */
export function visible(text: string): string {
  return text.replace(OBEYED, escaped);
}

/** The same, with its line breaks kept. */
export function visibleLines(text: string): string {
  return text.replace(OBEYED, (character) => (character === '\n' ? character : escaped(character)));
}

/** The same JSON document, with nothing in it that a terminal obeys. */
export function visibleJson(json: string): string {
  return json.replace(OBEYED, asCode);
}

function escaped(character: string): string {
  return { '\n': '\\n', '\r': '\\r', '\t': '\\t' }[character] ?? asCode(character);
}

function asCode(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
