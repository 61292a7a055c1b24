/** A part of the syntax whose cost is unknown. */
export class NotUnderstoodError extends Error {
  constructor(readonly part: string) {
    super(part);
  }
}

/** The text is not a valid regular expression; MongoDB refuses it. */
export class MalformedError extends Error {}

const HEX = /\\x(?:\{([0-9a-fA-F]+)\}|(?!\{)([0-9a-fA-F]{0,2}))/y;
const PROPERTY = /\\[pP](?:\{\^?\w+\}|[A-Z])/y;

/** A position in a regular expression that is being parsed. */
export class Cursor {
  at = 0;

  constructor(readonly source: string) {}

  /** Skips a text, if it comes next. */
  taken(text: string): boolean {
    if (!this.source.startsWith(text, this.at)) return false;
    this.at += text.length;
    return true;
  }

  /** Skips the match of a sticky expression. */
  match(expression: RegExp): RegExpExecArray | null {
    const found = this.peek(expression);
    if (found) this.at += found[0].length;
    return found;
  }

  peek(expression: RegExp): RegExpExecArray | null {
    expression.lastIndex = this.at;
    return expression.exec(this.source);
  }

  /** The code point of `\x41` or `\x{1F431}`. */
  hex(): number | undefined {
    const found = this.match(HEX);
    return found ? Number.parseInt((found[1] ?? found[2]!) || '0', 16) : undefined;
  }

  /** Skips `\p{L}`, which may be any character. */
  property(): boolean {
    return this.match(PROPERTY) !== null;
  }
}
