import {
  ENDLESS,
  type Growth,
  greater,
  isSingle,
  ONE,
  PER_CHARACTER,
  product,
  sum,
  times,
  ZERO,
} from './growth.js';
import { MalformedError } from './cursor.js';
import { parsePattern } from './parse.js';
import { type Characters, choice, type Node, NONE, repeat, sequence } from './tree.js';

/** A pattern that looks at the beginning of a text only costs a few steps: so many count as one for each character. */
const STEPS_AT_ONCE = 20;
const MOST_TIMES = 1000;

/**
 * For how many steps for each character of a text PCRE is kept busy by a pattern at most, whatever the text: Infinity where
 * their number grows faster than the text, 0 where it is no pattern, which MongoDB refuses. Throws NotUnderstoodError where
 * that cannot be told.
 *
 * PCRE tries a pattern from each character on, and where a part fails it takes back what was taken last and tries again. So
 * the steps stay within a multiple of the text's length only if
 *
 * - of what is repeated without end nothing can be taken back to any avail: what comes next begins with other characters,
 *   or only single steps follow;
 * - and what was passed over is not passed over again from a later beginning: the pattern holds at the beginning of the text
 *   only, or begins with a character that no repetition without end takes.
 */
export function patternCost(source: string, options: string): number {
  let pattern: Node;
  try {
    pattern = parsePattern(source, options);
  } catch (error) {
    if (error instanceof MalformedError) return 0;
    throw error;
  }
  const alternatives = pattern.is === 'choice' ? pattern.options : [pattern];
  // PCRE tries a pattern whose alternatives all begin with `.*` at the beginning of lines only.
  const isOfLines = alternatives.every((one) => beginsText(one) || beginsLine(one));
  return alternatives.reduce((steps, one) => steps + costOf(withoutEnd(one), isOfLines), 0);
}

/** Whether it can be told at once that a text does not match, since it has to begin with this very text. */
export function isPlainBeginning(source: string): boolean {
  return /^\^(?:[\w \-/:@#%&=,;!~<>"'`]|\\[^A-Za-z0-9])*$/.test(source);
}

function costOf(one: Node, isOfLines: boolean): number {
  const isAnchored = beginsText(one);
  const { once, perCharacter } = measured(one, NONE, isAnchored).work;
  if (isAnchored) return once / STEPS_AT_ONCE + perCharacter;
  if (perCharacter === 0 || isOfLines) return once + perCharacter;
  const isRepassed = one.isEmpty || (one.first & one.endless) !== NONE;
  return isRepassed ? Infinity : once + (one.fixed + 1) * perCharacter;
}

function beginsText(node: Node): boolean {
  if (node.is === 'start') return true;
  if (node.is === 'sequence') return node.parts[0] !== undefined && beginsText(node.parts[0]);
  return node.is === 'choice' && node.options.every(beginsText);
}

function beginsLine(node: Node): boolean {
  const first = node.is === 'sequence' ? node.parts[0] : node;
  return (
    first?.is === 'repeat' &&
    first.min === 0 &&
    first.max === Infinity &&
    first.body.is === 'character' &&
    first.body.isDot
  );
}

/** Without what is left at the end to be taken or not: a match has ended before. */
function withoutEnd(node: Node): Node {
  if (node.is === 'repeat') return repeat(node.body, node.min, node.min);
  if (node.is === 'choice') return choice(node.options.map(withoutEnd));
  if (node.is !== 'sequence') return node;
  const parts = [...node.parts];
  for (;;) {
    const last = parts.pop();
    if (last === undefined) return sequence([]);
    const short = withoutEnd(last);
    if (short.is === 'repeat' && short.max === 0) continue;
    return sequence([...parts, short]);
  }
}

/** The steps within a part, from one beginning on, and in how many ways it may end for what follows to go on. */
interface Measure {
  work: Growth;
  ways: Growth;
}

/** `follow`: what may come behind it, where that has to begin with a character. */
function measured(node: Node, follow: Characters, isAnchored: boolean): Measure {
  switch (node.is) {
    case 'character':
    case 'edge':
    case 'start':
      return { work: ONE, ways: ONE };
    case 'look':
      return { work: sum(ONE, measured(withoutEnd(node.body), NONE, isAnchored).work), ways: ONE };
    case 'sequence':
      return ofSequence(node.parts, follow, isAnchored);
    case 'choice':
      return ofChoice(node.options, follow, isAnchored);
    case 'repeat':
      return node.body.is === 'character'
        ? ofCharacters(node, follow, isAnchored)
        : ofRepeated(node, follow, isAnchored);
  }
}

function ofSequence(parts: Node[], follow: Characters, isAnchored: boolean): Measure {
  let next = follow;
  let rest: Measure = { work: ZERO, ways: ONE };
  for (const part of parts.toReversed()) {
    const { work, ways } = measured(part, next, isAnchored);
    rest = { work: sum(work, product(ways, rest.work)), ways: product(ways, rest.ways) };
    next = part.first | (part.isEmpty ? next : NONE);
  }
  return rest;
}

function ofChoice(options: Node[], follow: Characters, isAnchored: boolean): Measure {
  let begun = NONE;
  let areApart = true;
  let work = times(options.length);
  let [all, most] = [ZERO, ZERO];
  for (const option of options) {
    const one = measured(option, follow, isAnchored);
    const first = option.first | (option.isEmpty ? follow : NONE);
    areApart &&= (begun & first) === NONE;
    begun |= first;
    work = sum(work, one.work);
    all = sum(all, one.ways);
    most = greater(most, one.ways);
  }
  return { work, ways: areApart ? most : all };
}

type Repeat = Extract<Node, { is: 'repeat' }>;

/** One character, repeated: `[a-z]*`. */
function ofCharacters({ body, min, max }: Repeat, follow: Characters, isAnchored: boolean): Measure {
  const isOpen = (body.first & follow) !== NONE;
  // Each character once there and once back, where nothing can be done with what was given back.
  if (!isOpen && (max === Infinity || (isAnchored && max > STEPS_AT_ONCE)))
    return { work: { once: 1, perCharacter: 2 }, ways: ONE };
  if (max === Infinity) return { work: PER_CHARACTER, ways: { once: 0, perCharacter: 1 } };
  const width = max - min;
  return isOpen
    ? { work: times(max + 1), ways: times(width + 1) }
    : { work: times(max + width + 1), ways: ONE };
}

/** A group, repeated. Without end only where it can be taken in one way at each place: all else may grow without end. */
function ofRepeated({ body, min, max }: Repeat, follow: Characters, isAnchored: boolean): Measure {
  const again = max > 1 ? body.first | follow : follow;
  const { work, ways } = measured(body, again, isAnchored);
  const isOpen = body.isEmpty || (body.first & follow) !== NONE;
  if (max === Infinity) {
    if (body.isEmpty || body.looks || !isSingle(ways)) return { work: ENDLESS, ways: ENDLESS };
    const perCharacter = work.once + 2 * work.perCharacter + 1;
    return { work: { once: 1, perCharacter }, ways: isOpen ? { once: 0, perCharacter: 1 } : ONE };
  }
  if (max > MOST_TIMES) return { work: ENDLESS, ways: ENDLESS };
  let [steps, ends, taken] = [ONE, min === 0 ? ONE : ZERO, ONE];
  for (let count = 1; count <= max; count += 1) {
    steps = sum(steps, product(taken, work));
    taken = product(taken, ways);
    if (count >= min) ends = sum(ends, taken);
  }
  return { work: steps, ways: !isOpen && isSingle(ways) ? ONE : ends };
}
