/** What a terminal acts on instead of showing it, and what changes the order or the place of the text around it. */
const UNSHOWN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;
const HEX = 16;
const DIGITS = 4;

/** A text of others on one line of a terminal: what is no visible character shows as its number, such as `\u001b`. */
export function harmless(text: string): string {
  return text.replace(UNSHOWN, (one) => `\\u${one.codePointAt(0)!.toString(HEX).padStart(DIGITS, '0')}`);
}
