import { CONTROLS, KINDS, OF_CASE, POSIX } from './classes.js';
import { type Cursor, MalformedError, NotUnderstoodError } from './cursor.js';
import { type Characters, codes, EVERY, except, NONE } from './tree.js';

const POSIX_NAME = /\[:(\^?)([^\]:]*):\]/y;
const LAST_CODE = 0x10ffff;
const BACKSLASH = 92;
const HYPHEN = 45;
const BACKSPACE = 8;

/** The characters of a bracket expression; the cursor is past the opening bracket. */
export function bracketed(cursor: Cursor, anyCase: boolean): Characters {
  const isNegated = cursor.taken('^');
  // The excluded set must not be overestimated.
  const ignoreCase = anyCase && !isNegated;
  const allLetters = { named: ignoreCase, opposite: anyCase && isNegated };
  let set = NONE;
  let isFirst = true;
  while (isFirst || !cursor.taken(']')) {
    if (cursor.at >= cursor.source.length) throw new MalformedError();
    isFirst = false;
    const from = member(cursor, allLetters);
    const isRange =
      typeof from === 'number' && cursor.source[cursor.at] === '-' && cursor.source[cursor.at + 1] !== ']';
    if (typeof from !== 'number') set |= from;
    else if (!isRange) set |= codes(from, from, ignoreCase);
    else {
      cursor.at += 1;
      const to = member(cursor, allLetters);
      if (typeof to !== 'number') set |= codes(from, from, ignoreCase) | codes(HYPHEN, HYPHEN) | to;
      else if (to < from) throw new NotUnderstoodError('[z-a]');
      else set |= codes(from, Math.min(to, LAST_CODE), ignoreCase);
    }
  }
  return isNegated && set !== EVERY ? except(set) : set;
}

/** Whether a class of one case counts as all letters: where it is named, and where its opposite is. */
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
  if (/^\[[.=]/.test(cursor.source.slice(cursor.at, cursor.at + 2))) throw new NotUnderstoodError('[[.');
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
