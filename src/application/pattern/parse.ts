import { CONTROLS, Cursor, KINDS, MalformedError, NotUnderstoodError, OF_CASE, POSIX } from './cursor.js';
import {
  CARET,
  character,
  type Characters,
  choice,
  codes,
  EDGE,
  EVERY,
  except,
  look,
  type Node,
  NONE,
  repeat,
  sequence,
  START,
} from './tree.js';

const DEEPEST = 30;
/** PCRE refuses a larger count. */
const MOST_TIMES = 65_535;
const COUNT = /\{(\d+)(?:(,)(\d*))?\}/y;
/** Matches each text in one way only: an ambiguous expression would take quadratic time. */
const UNCLEAR_COUNT = /\{[\s\d]*(?:,[\s\d]*)?\}/y;
const GROUP = /\(\?(?::|P?<[A-Za-z_]\w*>|'[A-Za-z_]\w*'|>|\|)/y;
const LOOK = /\(\?<?[=!]/y;
/** The characters that every version of PCRE ignores with `x`, and those that only PCRE2 ignores. */
const BLANK = /[ \t\n\v\f\r]/;
const MAY_BE_BLANK = /[\u0085\u200e\u200f\u2028\u2029]/;
const EDGES = new Set(['b', 'B', 'z', 'Z']);

const POSIX_NAME = /\[:(\^?)([^\]:]*):\]/y;
const LAST_CODE = 0x10ffff;
const BACKSLASH = 92;
const HYPHEN = 45;
const BACKSPACE = 8;

/**
 * The alternatives of a pattern, in the subset of PCRE's syntax whose cost can be determined: no references to
 * groups, recursion, conditions or verbs. If the options leave the meaning of a character open, its set is
 * overestimated. Throws NotUnderstoodError and MalformedError.
 */
export function parsePattern(source: string, options: string): Node[] {
  return new Reader(source, options).read();
}

class Reader {
  private depth = 0;
  private readonly ignoreCase: boolean;
  private readonly multiline: boolean;
  private readonly extended: boolean;

  private readonly cursor: Cursor;

  constructor(source: string, options: string) {
    this.cursor = new Cursor(source);
    this.ignoreCase = options.includes('i') || source.includes('(?i');
    this.multiline = options.includes('m');
    this.extended = options.includes('x');
  }

  read(): Node[] {
    const all = this.choices();
    if (this.cursor.at < this.cursor.source.length) throw new MalformedError();
    return all;
  }

  private choices(): Node[] {
    this.depth += 1;
    if (this.depth > DEEPEST) throw new NotUnderstoodError('(');
    const options = [this.parts()];
    while (this.cursor.taken('|')) options.push(this.parts());
    this.depth -= 1;
    return options;
  }

  private parts(): Node {
    const parts: Node[] = [];
    for (;;) {
      this.skipComments();
      const next = this.cursor.source[this.cursor.at];
      if (next === undefined || next === '|' || next === ')') break;
      const atom = this.atom(next);
      if (atom !== undefined) parts.push(this.repeated(atom));
    }
    return parts.length === 1 ? parts[0]! : sequence(parts);
  }

  /** With `x`, blanks and comments after `#` are ignored. */
  private skipComments(): void {
    if (!this.extended) return;
    for (;;) {
      const next = this.cursor.source[this.cursor.at] ?? '';
      if (BLANK.test(next)) this.cursor.at += 1;
      else if (MAY_BE_BLANK.test(next)) throw new NotUnderstoodError(next);
      else if (next === '#')
        this.cursor.at = this.cursor.source.indexOf('\n', this.cursor.at) + 1 || this.cursor.source.length;
      else return;
    }
  }

  /** Undefined for a group that only sets an option. */
  private atom(next: string): Node | undefined {
    if (next === '(') return this.group();
    if (next === '\\') return this.escape();
    if (next === '*' || next === '+' || next === '?' || this.cursor.peek(COUNT))
      throw new NotUnderstoodError(
        this.cursor.source.slice(Math.max(0, this.cursor.at - 2), this.cursor.at + 1),
      );
    this.cursor.at += 1;
    if (next === '[') return character(bracketed(this.cursor, this.ignoreCase));
    if (next === '.') return character(EVERY, true);
    if (next === '^') return this.multiline ? EDGE : CARET;
    if (next === '$') return EDGE;
    return this.literal(next);
  }

  private literal(letter: string): Node {
    const code = this.cursor.source.codePointAt(this.cursor.at - 1) ?? letter.charCodeAt(0);
    if (code > 0xffff) this.cursor.at += 1;
    return character(codes(code, code, this.ignoreCase));
  }

  private repeated(atom: Node): Node {
    this.skipComments();
    const count = this.count();
    if (count === undefined) return atom;
    if (atom.is === 'edge' || atom.is === 'start' || atom.is === 'look')
      throw new NotUnderstoodError(this.cursor.source.slice(Math.max(0, this.cursor.at - 2), this.cursor.at));
    const [min, max] = count;
    if (max < min) throw new NotUnderstoodError(`{${min},${max}}`);
    if (min > MOST_TIMES || (max > MOST_TIMES && max < Infinity)) throw new MalformedError();
    this.cursor.taken('?');
    const repeated = repeat(atom, min, max);
    return this.cursor.taken('+') ? atomic(repeated) : repeated;
  }

  private count(): [number, number] | undefined {
    if (this.cursor.taken('*')) return [0, Infinity];
    if (this.cursor.taken('+')) return [1, Infinity];
    if (this.cursor.taken('?')) return [0, 1];
    const found = this.cursor.match(COUNT);
    if (found) {
      const [, min, comma, max] = found;
      if (comma === undefined) return [Number(min), Number(min)];
      return [Number(min), max === '' ? Infinity : Number(max)];
    }
    const unclear = this.cursor.peek(UNCLEAR_COUNT);
    if (unclear && unclear[0] !== '{}') throw new NotUnderstoodError(unclear[0]);
    return undefined;
  }

  private group(): Node | undefined {
    if (this.cursor.taken('(?i)')) return undefined;
    const isAtomic = this.cursor.source.startsWith('(?>', this.cursor.at);
    const isLook = this.cursor.match(LOOK) !== null;
    if (!isLook && this.cursor.match(GROUP) === null && !this.cursor.taken('(?i:')) {
      if (/[?*]/.test(this.cursor.source[this.cursor.at + 1] ?? ''))
        throw new NotUnderstoodError(this.cursor.source.slice(this.cursor.at, this.cursor.at + 3));
      this.cursor.at += 1;
    }
    const body = choice(this.choices());
    if (!this.cursor.taken(')')) throw new MalformedError();
    if (isAtomic) return atomic(body);
    return isLook ? look(body) : body;
  }

  private escape(): Node {
    const hex = this.cursor.hex();
    if (hex !== undefined) return character(codes(hex, hex, this.ignoreCase));
    if (this.cursor.property()) return character(EVERY);
    const letter = this.cursor.source[this.cursor.at + 1];
    if (letter === undefined) throw new MalformedError();
    const kind = KINDS.get(letter);
    const isPlain = !/[A-Za-z0-9]/.test(letter) || CONTROLS.has(letter);
    if (kind === undefined && letter !== 'A' && !EDGES.has(letter) && !isPlain)
      throw new NotUnderstoodError(`\\${letter}`);
    this.cursor.at += 2;
    if (kind !== undefined) return character(kind);
    if (letter === 'A') return START;
    if (EDGES.has(letter)) return EDGE;
    const control = CONTROLS.get(letter);
    return control === undefined ? this.literal(letter) : character(codes(control, control));
  }
}

/**
 * An atomic part, into which PCRE does not backtrack. The cost assumes that this saves no work, and that PCRE tries the
 * part at every character, even if it begins with `.*`.
 */
function atomic(body: Node): Node {
  return repeat(body, 1, 1);
}

/** The characters of a bracket expression; the cursor is past the opening bracket. */
function bracketed(cursor: Cursor, anyCase: boolean): Characters {
  const isNegated = cursor.taken('^');
  // The excluded set must not be overestimated.
  const ignoreCase = anyCase && !isNegated;
  const allLetters = { named: ignoreCase, opposite: anyCase && isNegated };
  let set = NONE;
  let isFirst = true;
  while (isFirst || !cursor.taken(']')) {
    if (cursor.at >= cursor.source.length) throw new MalformedError();
    isFirst = false;
    const start = cursor.at;
    const from = member(cursor, allLetters);
    const isRange =
      typeof from === 'number' && cursor.source[cursor.at] === '-' && cursor.source[cursor.at + 1] !== ']';
    if (typeof from !== 'number') set |= from;
    else if (!isRange) set |= codes(from, from, ignoreCase);
    else {
      cursor.at += 1;
      const to = member(cursor, allLetters);
      if (typeof to !== 'number') set |= codes(from, from, ignoreCase) | codes(HYPHEN, HYPHEN) | to;
      else if (to < from) throw new NotUnderstoodError(cursor.source.slice(start, cursor.at));
      else set |= codes(from, Math.min(to, LAST_CODE), ignoreCase);
    }
  }
  return isNegated && set !== EVERY ? except(set) : set;
}

/** Whether a class of one case counts as all letters: if it is used directly, and if it is negated. */
interface AllLetters {
  named: boolean;
  opposite: boolean;
}

/** One character by its code, or several. */
function member(cursor: Cursor, allLetters: AllLetters): number | Characters {
  const posix = cursor.match(POSIX_NAME);
  if (posix) {
    const [all, opposite, name] = posix as unknown as [string, string, string];
    const isWide = OF_CASE.has(name) && (opposite === '^' ? allLetters.opposite : allLetters.named);
    const named = POSIX.get(isWide ? 'alpha' : name);
    if (named === undefined) throw new NotUnderstoodError(all);
    return opposite === '^' ? except(named) : named;
  }
  const beginning = cursor.source.slice(cursor.at, cursor.at + 2);
  if (beginning === '[.' || beginning === '[=') throw new NotUnderstoodError(beginning);
  const hex = cursor.hex();
  if (hex !== undefined) return hex;
  if (cursor.property()) return EVERY;
  const code = cursor.source.codePointAt(cursor.at);
  if (code === undefined) throw new MalformedError();
  if (code !== BACKSLASH) {
    cursor.at += code > 0xffff ? 2 : 1;
    return code;
  }
  return escapedMember(cursor);
}

function escapedMember(cursor: Cursor): number | Characters {
  const letter = cursor.source[cursor.at + 1];
  if (letter === undefined) throw new MalformedError();
  const kind = KINDS.get(letter);
  const code = letter === 'b' ? BACKSPACE : CONTROLS.get(letter);
  if (kind === undefined && code === undefined && /[A-Za-z0-9]/.test(letter))
    throw new NotUnderstoodError(`\\${letter}`);
  cursor.at += 2;
  return kind ?? code ?? letter.charCodeAt(0);
}
